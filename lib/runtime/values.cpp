#include "runtime/values.h"

#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace qtool {

namespace {

Ort::Value make_view(std::span<const std::byte> bytes, std::span<const std::int64_t> shape,
                     std::int32_t type) {
  static const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  return Ort::Value::CreateTensor(memory, const_cast<std::byte*>(bytes.data()), bytes.size(),
                                  shape.data(), shape.size(),
                                  static_cast<ONNXTensorElementDataType>(type));
}

}  // namespace

Ort::Value view_of(const NamedTensor& named) {
  const Tensor& tensor = named.tensor;
  if (element_bits(tensor.type) == 0) {
    throw Error(ErrorKind::Input, "input '" + printable(named.name) + "': has type " +
                                      element_type_name(tensor.type) + ", expected numbers");
  }
  return make_view(tensor.bytes, tensor.shape, static_cast<std::int32_t>(tensor.type));
}

Ort::Value view_of(const onnx::TensorProto& tensor) {
  const std::string& raw_data = tensor.raw_data();
  const std::span<const std::int64_t> shape(tensor.dims().data(),
                                            static_cast<std::size_t>(tensor.dims_size()));
  return make_view(std::as_bytes(std::span(raw_data)), shape, tensor.data_type());
}

Tensor copy_of(const Ort::Value& value, const std::string& name) {
  const auto refuse = [&](const char* what) {
    throw Error(ErrorKind::Input,
                "output '" + printable(name) + "': is " + what + ", expected a tensor of numbers");
  };
  if (!value.IsTensor()) refuse("not a dense tensor");
  const auto info = value.GetTensorTypeAndShapeInfo();
  Tensor out{.type = static_cast<ElementType>(info.GetElementType()),
             .shape = info.GetShape(),
             .bytes = {}};
  if (element_bits(out.type) == 0) refuse("a tensor of strings");
  out.bytes.resize(packed_bytes(out.type, info.GetElementCount()));
  if (!out.bytes.empty()) std::memcpy(out.bytes.data(), value.GetTensorRawData(), out.bytes.size());
  return out;
}

TensorInfo tensor_info(const std::string& name, const Ort::TypeInfo& type) {
  TensorInfo out;
  out.name = name;
  if (type.GetONNXType() != ONNX_TYPE_TENSOR) return out;
  const auto info = type.GetTensorTypeAndShapeInfo();
  out.type = static_cast<ElementType>(info.GetElementType());
  out.shape = info.GetShape();
  // An unknown rank and a scalar look alike here; to take a scalar for unknown refuses nothing.
  out.has_shape = !out.shape.empty();
  std::vector<const char*> symbols(out.shape.size());
  info.GetSymbolicDimensions(symbols.data(), symbols.size());
  out.symbols.assign(symbols.begin(), symbols.end());
  return out;
}

}  // namespace qtool
