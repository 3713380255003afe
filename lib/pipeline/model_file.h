#pragma once

#include <cstdint>
#include <filesystem>

namespace qtool {

class Model;

/// A model file as a report names it.
struct ModelFile {
  std::filesystem::path path;
  std::uint64_t bytes = 0;  ///< with every file that its tensors lie in
};

/// The file that a model was loaded from.
ModelFile model_file(const Model& model);

}  // namespace qtool
