#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "verify/comparison.h"

namespace qtool {

/// A model file as a report names it.
struct ModelFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;  ///< external data included
};

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
