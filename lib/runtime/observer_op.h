#pragma once

#include <cstdint>
#include <exception>

#include <onnxruntime_cxx_api.h>

#include "model/element_type.h"
#include "runtime/session.h"

namespace qtool {

/// What runs behind each tapped value: it takes the value, gives nothing, and shows it to the
/// observer of the calling thread.
class ObserverKernel {
 public:
  explicit ObserverKernel(const OrtKernelInfo* info);
  OrtStatusPtr ComputeV2(OrtKernelContext* context) const noexcept;

 private:
  std::size_t tap_;
};

/// The operator for one type of values; each has a name of its own, since ONNX Runtime would cast
/// the values of an operator that takes several.
struct ObserverOp : Ort::CustomOpBase<ObserverOp, ObserverKernel, true> {
  static constexpr const char* kDomain = "qtool.runtime";
  static constexpr const char* kTapAttribute = "tap";

  /// Of `type`: Float, Float16 or BFloat16.
  explicit ObserverOp(ElementType type) : type_(type) {}
  static const char* name_for(ElementType type);
  static bool can_observe(ElementType type);

  OrtStatusPtr CreateKernelV2(const OrtApi&, const OrtKernelInfo* info,
                              void** kernel) const noexcept;
  const char* GetName() const { return name_for(type_); }
  const char* GetExecutionProviderType() const { return "CPUExecutionProvider"; }
  std::size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(std::size_t) const {
    return static_cast<ONNXTensorElementDataType>(type_);
  }
  std::size_t GetOutputTypeCount() const { return 0; }
  ONNXTensorElementDataType GetOutputType(std::size_t) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  }

 private:
  ElementType type_;
};

/// While it lives, values that a run on this thread passes by are shown to `observer`; with
/// `stops_inside` an interrupt ends the run at the next of them.
class ObserverScope {
 public:
  ObserverScope(TensorObserver& observer, bool stops_inside);
  ObserverScope(const ObserverScope&) = delete;
  ObserverScope& operator=(const ObserverScope&) = delete;
  ~ObserverScope();

  /// Throws what the observer threw, where that is why the run ended.
  void rethrow() const;

 private:
  friend class ObserverKernel;
  TensorObserver& observer_;
  bool stops_inside_;
  std::exception_ptr failure_;
};

}  // namespace qtool
