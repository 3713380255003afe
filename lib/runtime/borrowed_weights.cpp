#include "runtime/borrowed_weights.h"

namespace qtool {

void BorrowedWeights::add(const onnx::TensorProto& tensor) {
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  const std::string& bytes = tensor.raw_data();
  names_.push_back(tensor.name());
  // ONNX Runtime takes a pointer to non-const, and writes to no weight.
  values_.push_back(Ort::Value::CreateTensor(
      memory, const_cast<char*>(bytes.data()), bytes.size(), tensor.dims().data(),
      static_cast<std::size_t>(tensor.dims_size()),
      static_cast<ONNXTensorElementDataType>(tensor.data_type())));
}

void BorrowedWeights::hand_to(Ort::SessionOptions& options) const {
  if (!names_.empty()) options.AddExternalInitializers(names_, values_);
}

}  // namespace qtool
