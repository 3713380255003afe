#pragma once

#include <filesystem>
#include <string>

namespace qtool {

/// What ONNX Runtime says where it refuses a model. A model with operators that ONNX Runtime does
/// not have gives `unknown_operator`.
struct LoadResult {
  bool loads = false;
  bool unknown_operator = false;
  bool missing_kernel = false;  ///< an operator is known, and not for its types
  std::string message;
};

/// Loads a written model as a user would, all optimizations on. Large weights whose size is right
/// stay in the file, which ONNX Runtime maps: it takes any values of them.
LoadResult try_load(const std::filesystem::path& path, int threads);

}  // namespace qtool
