#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/tensor.h"
#include "quantize/params.h"
#include "quantize/plan.h"

// Processors with AVX2 or AVX-512 and without VNNI multiply unsigned by signed bytes with
// VPMADDUBSW, which adds neighbouring products two by two in 16 bits and stops at the ends of
// those: a sum beyond them is silently wrong.

namespace qtool {

/// The largest sum of two neighbouring products by what 16 bits hold, beyond 1 it saturates: of
/// weights 0 and 1, 2 and 3 and so on, each multiplied with any unsigned byte that `inputs` says it
/// can meet. Exact: there are inputs that load 16 bits so. Both spans are of one length; a last
/// weight without a neighbour stands alone.
double pair_load(std::span<const std::int8_t> weights, std::span<const IntegerRange> inputs);

/// What a weight is multiplied with.
struct PairedInput {
  const QuantParams& params;  ///< of the activation
  /// Largest magnitude of each channel; empty where it is not known: then any integer can come.
  std::span<const float> maxima;
};

/// Of the int8 weight in slot 1 of a Conv, Gemm or MatMul: for each of its scales the largest load
/// of an output channel under it. Values count in the order in which ONNX Runtime's kernels add
/// them: for a Conv by position in the window, then by input channel. Empty for weights that are
/// not added in pairs: those of depthwise Convs, of other types, and with scales per block.
std::vector<double> pair_loads(const onnx::NodeProto& node, const Tensor& weight,
                               const QuantParams& params, const PairedInput& input);

/// Widens the scales of `plan`, which is for `weight`, under which `node` could saturate, each by
/// no more than it takes, to a 64th: at most to the double, as 7 bits never saturate. Notes in the
/// plan by how much.
void keep_sums_in_16_bits(const onnx::NodeProto& node, const Tensor& weight,
                          const PairedInput& input, TensorPlan& plan);

}  // namespace qtool
