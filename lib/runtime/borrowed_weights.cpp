#include "runtime/borrowed_weights.h"

namespace qtool {

/// Gives the bytes of one tensor as if it had allocated them, and takes them back without doing
/// anything.
struct BorrowedWeights::Lender : OrtAllocator {
  explicit Lender(const std::string& raw_data)
      : OrtAllocator{},
        bytes(raw_data),
        memory(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault)) {
    version = ORT_API_VERSION;
    OrtAllocator::Alloc = [](OrtAllocator* self, std::size_t size) -> void* {
      const std::string& lent = static_cast<Lender*>(self)->bytes;
      // ONNX Runtime writes to no weight.
      return size <= lent.size() ? const_cast<char*>(lent.data()) : nullptr;
    };
    OrtAllocator::Free = [](OrtAllocator*, void*) {};
    OrtAllocator::Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* {
      return static_cast<const Lender*>(self)->memory;
    };
    OrtAllocator::Reserve = OrtAllocator::Alloc;
  }

  const std::string& bytes;
  Ort::MemoryInfo memory;
};

BorrowedWeights::BorrowedWeights() = default;
BorrowedWeights::BorrowedWeights(BorrowedWeights&&) noexcept = default;
BorrowedWeights& BorrowedWeights::operator=(BorrowedWeights&&) noexcept = default;
BorrowedWeights::~BorrowedWeights() = default;

void BorrowedWeights::add(const onnx::TensorProto& tensor) {
  auto& lender = *lenders_.emplace_back(std::make_unique<Lender>(tensor.raw_data()));
  names_.push_back(tensor.name());
  values_.push_back(Ort::Value::CreateTensor(
      &lender, tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size()),
      static_cast<ONNXTensorElementDataType>(tensor.data_type())));
}

void BorrowedWeights::hand_to(Ort::SessionOptions& options) const {
  if (!names_.empty()) options.AddExternalInitializers(names_, values_);
}

}  // namespace qtool
