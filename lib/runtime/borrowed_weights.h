#pragma once

#include <string>
#include <vector>

#include <onnx/onnx_pb.h>
#include <onnxruntime_cxx_api.h>

namespace qtool {

/// Weights that stay where they are while ONNX Runtime reads them.
class BorrowedWeights {
 public:
  /// The values in `tensor.raw_data()`; they must outlive this object.
  void add(const onnx::TensorProto& tensor);
  /// Sessions made with `options` must not outlive this object.
  void hand_to(Ort::SessionOptions& options) const;

 private:
  std::vector<std::string> names_;
  std::vector<Ort::Value> values_;
};

}  // namespace qtool
