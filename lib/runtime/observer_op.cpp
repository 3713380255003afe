#include "runtime/observer_op.h"

#include <cstring>
#include <vector>

#include "base/interrupt.h"
#include "model/tensor.h"

namespace qtool {
namespace {

// The kernel is called by ONNX Runtime with nothing of ours but itself, and one kernel serves all
// threads.
thread_local ObserverScope* current_scope = nullptr;

/// Any float value as float32, copied.
std::vector<float> widened(const Ort::ConstValue& value, ElementType type, std::size_t count) {
  Tensor tensor{.type = type, .shape = {static_cast<std::int64_t>(count)}, .bytes = {}};
  tensor.bytes.resize(packed_bytes(type, count));
  std::memcpy(tensor.bytes.data(), value.GetTensorRawData(), tensor.bytes.size());
  return to_float32(tensor);
}

void show(TensorObserver& observer, std::size_t tap, const Ort::ConstValue& value) {
  const auto info = value.GetTensorTypeAndShapeInfo();
  const std::vector<std::int64_t> shape = info.GetShape();
  const std::size_t count = info.GetElementCount();
  const auto type = static_cast<ElementType>(info.GetElementType());
  if (type == ElementType::Float)
    observer.observe(tap, {value.GetTensorData<float>(), count}, shape);
  else
    observer.observe(tap, widened(value, type, count), shape);
}

}  // namespace

ObserverKernel::ObserverKernel(const OrtKernelInfo* info)
    : tap_(static_cast<std::size_t>(
          Ort::ConstKernelInfo(info).GetAttribute<std::int64_t>(ObserverOp::kTapAttribute))) {}

OrtStatusPtr ObserverKernel::ComputeV2(OrtKernelContext* context) const noexcept {
  if (current_scope == nullptr) return nullptr;
  try {
    // A stop must not wait for the end of a long run.
    if (current_scope->stops_inside_) throw_if_interrupted();
    show(current_scope->observer_, tap_, Ort::KernelContext(context).GetInput(0));
    return nullptr;
  } catch (...) {
    current_scope->failure_ = std::current_exception();
    return Ort::GetApi().CreateStatus(ORT_FAIL, "stopped by the observer");
  }
}

const char* ObserverOp::name_for(ElementType type) {
  switch (type) {
    case ElementType::Float16:
      return "ObserveFloat16";
    case ElementType::BFloat16:
      return "ObserveBFloat16";
    default:
      return "Observe";
  }
}

bool ObserverOp::can_observe(ElementType type) {
  return type == ElementType::Float || type == ElementType::Float16 ||
         type == ElementType::BFloat16;
}

OrtStatusPtr ObserverOp::CreateKernelV2(const OrtApi& api, const OrtKernelInfo* info,
                                        void** kernel) const noexcept {
  try {
    *kernel = new ObserverKernel(info);
    return nullptr;
  } catch (const std::exception& exception) {
    return api.CreateStatus(ORT_FAIL, exception.what());
  }
}

ObserverScope::ObserverScope(TensorObserver& observer, bool stops_inside)
    : observer_(observer), stops_inside_(stops_inside) {
  current_scope = this;
}

ObserverScope::~ObserverScope() { current_scope = nullptr; }

void ObserverScope::rethrow() const {
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace qtool
