#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/stage_times.h"
#include "config/config.h"
#include "report/document.h"
#include "report/json_object.h"

namespace qtool {

// What the reports of all commands that make a model from a model have in common.

/// `-` for none.
std::string path_text(const std::optional<std::filesystem::path>& path);

/// The model that was read and the one that was written.
struct ModelSizes {
  std::uint64_t input_bytes = 0, output_bytes = 0;
  std::int64_t opset_before = 0, opset_after = 0;
};

/// Input and output with their sizes and opsets; of a dry run only the input.
void add_model_facts(Facts& facts, const Config& config, const ModelSizes& sizes);

Section time_section(const StageTimes& seconds);
JsonValue times_json(const StageTimes& seconds);

void append(std::vector<Section>& out, std::vector<Section> sections);

}  // namespace qtool
