#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/model_file.h"
#include "verify/comparison.h"

namespace qtool {

/// Result of `compare`.
struct CompareReport {
  ModelFile reference, other;
  double size_ratio = 1;  ///< other / reference
  std::filesystem::path data;
  std::optional<std::filesystem::path> labels;
  Comparison comparison;
  std::vector<Gate> gates;
  std::vector<std::string> warnings;
};

}  // namespace qtool
