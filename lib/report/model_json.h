#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "preprocess/preprocess.h"
#include "report/json_object.h"

namespace qtool {

// The parts of JSON that every command which makes a model shares.

JsonValue model_json(const std::optional<std::filesystem::path>& path, const std::string& sha256,
                     std::uint64_t bytes, std::int64_t opset);
/// What each pass did and how long it took.
JsonValue passes_json(const PreprocessReport& report);

}  // namespace qtool
