#pragma once

#include <memory>
#include <string>
#include <vector>

#include <onnx/onnx_pb.h>
#include <onnxruntime_cxx_api.h>

namespace qtool {

/// Weights that stay where they are while ONNX Runtime uses them. What it is told belongs to
/// somebody else it copies; a tensor that an allocator of ours "allocated" it takes for its own.
class BorrowedWeights {
 public:
  BorrowedWeights();
  BorrowedWeights(BorrowedWeights&&) noexcept;
  BorrowedWeights& operator=(BorrowedWeights&&) noexcept;
  ~BorrowedWeights();

  /// The values in `tensor.raw_data()`; they must outlive this object.
  void add(const onnx::TensorProto& tensor);
  /// Sessions made with `options` must not outlive this object.
  void hand_to(Ort::SessionOptions& options) const;

 private:
  struct Lender;
  std::vector<std::unique_ptr<Lender>> lenders_;
  std::vector<std::string> names_;
  std::vector<Ort::Value> values_;
};

}  // namespace qtool
