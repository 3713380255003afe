#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/tensor.h"
#include "quantize/params.h"
#include "quantize/plan.h"

namespace qtool {

/// Parameters of a constant, and which of its channels or blocks hold nothing but zeros (their
/// scale is free).
struct ConstantParams {
  QuantParams params;
  std::vector<bool> is_zero = {};
};

/// Which values of a constant share a scale: all, those of one index of `axis`, or blocks of
/// `block_size` along `axis` (the last one may be shorter; without an axis along the first).
struct ScaleSharing {
  std::optional<std::int64_t> axis = {};
  std::int64_t block_size = 0;
};

/// What a user says of a constant instead of its values: nothing where empty, one value for all
/// channels, or one for each.
struct GivenParams {
  std::vector<double> scale = {}, zero_point = {};  ///< used as they are: both or neither
  /// Ends of the range, each in the place of the values' own.
  std::vector<double> rmin = {}, rmax = {};
};

/// Scale and zero point of a float32 or float16 constant from its own values. An empty tensor gets
/// scale 1. Nothing where a value is NaN or infinite: no integer stands for those. Of blocks only
/// a given scale and zero point is heeded, and then they are none; float8 heeds no given range.
/// `Usage` error for what a type has not: a reduced range or blocks of float8; given values that do
/// not fit the type or the number of channels.
std::optional<ConstantParams> constant_params(const Tensor& values, const ScaleSharing& sharing,
                                              const QuantScheme& scheme,
                                              const GivenParams& given = {});

/// The stored form of `values` (float32 or float16) under `params`, packed.
std::vector<std::byte> quantize_constant(const Tensor& values, const QuantParams& params);

}  // namespace qtool
