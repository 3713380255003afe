#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <onnx/onnx_pb.h>

namespace qtool {

/// Which channels the values of a weight belong to: output channels x summed channels x the rest.
struct WeightLayout {
  std::size_t outputs = 0;
  std::size_t summed = 0;  ///< input channels of one group
  std::size_t inner = 1;
  std::size_t groups = 1;
  bool is_transposed = false;  ///< summed x outputs in memory

  std::size_t inputs() const { return summed * groups; }
  std::size_t output_of(std::size_t index) const {
    const std::size_t row = index / inner;
    return is_transposed ? row % outputs : row / summed;
  }
  /// Among the input channels of all groups.
  std::size_t input_of(std::size_t index) const {
    const std::size_t row = index / inner;
    const std::size_t within = is_transposed ? row / outputs : row % summed;
    return output_of(index) / (outputs / groups) * summed + within;
  }
};

/// That of the weight of this shape in slot 1 of a Conv, a Gemm or a MatMul. Of no outputs where
/// the operator takes none such, or a stack of matrices.
WeightLayout weight_layout(const onnx::NodeProto& node, std::span<const std::int64_t> shape);

}  // namespace qtool
