#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>

#include "model/model.h"
#include "model/reference.h"
#include "model/tensor_walk.h"

namespace qtool {

/// The files that a model's tensors lie in: the model's own, and external data out of its folder
/// and no other. Each is mapped once.
class DataFiles {
 public:
  /// `model_file` is what `path`, as the user gave it, holds.
  DataFiles(const std::filesystem::path& path, MappedFile model_file);

  /// Where the `bytes` bytes of an external tensor are; an `Input` or `Io` error starting with the
  /// model's path and naming tensor and file where they are not inside the model's folder and the
  /// file.
  Reference resolve(const onnx::TensorProto& tensor, const TensorPlace& place, std::size_t bytes);

  const MappedFile& file(std::size_t index) const { return *files_[index]; }
  /// The files for a Model, by the number that references give.
  std::vector<Model::DataFile> take();

 private:
  std::size_t index_of(const std::string& location, const std::string& tensor);
  std::filesystem::path find_inside(const std::string& location, const std::string& tensor) const;

  std::string where_;
  std::vector<std::filesystem::path> folders_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  std::vector<std::filesystem::path> canonical_paths_;
};

}  // namespace qtool
