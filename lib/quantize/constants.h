#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/tensor.h"
#include "quantize/params.h"
#include "quantize/plan.h"

namespace qtool {

/// Parameters of a constant, and which of its channels hold nothing but zeros (their scale is
/// free).
struct ConstantParams {
  QuantParams params;
  std::vector<bool> is_zero;
};

/// Scale and zero point of a float32 constant from its own values: one pair, or one per index of
/// `axis`. An empty tensor gets scale 1. Nothing where a value is NaN or infinite: no integer
/// stands for those.
std::optional<ConstantParams> constant_params(const Tensor& values,
                                              std::optional<std::int64_t> axis,
                                              const QuantScheme& scheme);

/// The integers of `values` (float32) under `params`, packed.
std::vector<std::byte> quantize_constant(const Tensor& values, const QuantParams& params);

}  // namespace qtool
