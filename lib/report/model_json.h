#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "pipeline/calibrate_report.h"
#include "pipeline/table_report.h"
#include "preprocess/preprocess.h"
#include "report/json_object.h"

namespace qtool {

// The parts of JSON that several commands share.

JsonValue model_json(const std::optional<std::filesystem::path>& path, const std::string& sha256,
                     std::uint64_t bytes, std::int64_t opset);
JsonValue file_json(const FileDigest& file);
/// Null where there is none.
JsonValue range_json(const std::optional<Range>& range);
/// What each pass did and how long it took.
JsonValue passes_json(const PreprocessReport& report);

}  // namespace qtool
