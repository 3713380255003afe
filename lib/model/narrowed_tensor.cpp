#include "model/narrowed_tensor.h"

#include "model/reference.h"
#include "model/tensor_walk.h"

namespace qtool {
namespace {

std::span<const std::byte> bytes_of(const Model& model, const Reference& reference) {
  return model.data_files()[reference.file].file->part(reference.offset, reference.length);
}

std::span<const std::byte> raw_bytes(const onnx::TensorProto& tensor) {
  return std::as_bytes(std::span(tensor.raw_data().data(), tensor.raw_data().size()));
}

}  // namespace

void set_narrowed(onnx::TensorProto& tensor, const Narrowing& narrowing) {
  auto reference = reference_of(tensor);
  tensor.set_data_type(static_cast<std::int32_t>(narrowing.type));
  if (reference) {
    reference->narrowing = narrowing;
    return set_reference(tensor, *reference);
  }
  const auto bytes = narrow(raw_bytes(tensor), narrowing);
  tensor.set_raw_data(bytes.data(), bytes.size());
}

WrittenValues written_values(const Model& model, const onnx::TensorProto& tensor) {
  const auto reference = reference_of(tensor);
  if (!reference) return {.source = raw_bytes(tensor)};
  return {.source = bytes_of(model, *reference), .narrowing = reference->narrowing};
}

void finish_narrowing(Model& model) {
  TensorWalk::model(model.proto(), [&](onnx::TensorProto& tensor, const TensorPlace&) {
    const auto reference = reference_of(tensor);
    if (!reference || !reference->narrowing) return;
    const auto bytes = narrow(bytes_of(model, *reference), *reference->narrowing);
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.set_raw_data(bytes.data(), bytes.size());
  });
}

}  // namespace qtool
