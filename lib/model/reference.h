#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <onnx/onnx_pb.h>

#include "model/narrowing.h"

namespace qtool {

/// Bytes of a mapped file that are a tensor's values, or become them.
struct Reference {
  std::size_t file = 0;  ///< index into Model::data_files()
  std::size_t offset = 0;
  std::size_t length = 0;
  /// Set: the bytes are float32 values, which the tensor holds in another type once it is written.
  std::optional<Narrowing> narrowing = std::nullopt;
};

/// The location in external_data that stands for a model's data file number `file`.
std::string reference_location(std::size_t file);

/// What a tensor of a Model refers to; nothing where its values are in the message.
std::optional<Reference> reference_of(const onnx::TensorProto& tensor);

/// Makes `tensor` refer to `reference`; values in the message are dropped.
void set_reference(onnx::TensorProto& tensor, const Reference& reference);

}  // namespace qtool
