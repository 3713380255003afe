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

/// Which values of a constant share a scale: all, those of one index of `axis`, or blocks of
/// `block_size` along `axis` (the last one may be shorter).
struct ScaleSharing {
  std::optional<std::int64_t> axis = {};
  std::int64_t block_size = 0;
};

/// Scale and zero point of a float32 or float16 constant from its own values. An empty tensor gets
/// scale 1. Nothing where a value is NaN or infinite: no integer stands for those.
std::optional<ConstantParams> constant_params(const Tensor& values, const ScaleSharing& sharing,
                                              const QuantScheme& scheme);

/// The stored form of `values` (float32 or float16) under `params`, packed.
std::vector<std::byte> quantize_constant(const Tensor& values, const QuantParams& params);

}  // namespace qtool
