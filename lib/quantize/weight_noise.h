#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/model.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// A weight whose one scale is too coarse for most of its channels.
struct NoisyWeight {
  std::string name;
  double median_sqnr_db = 0;  ///< of the channels that are not all zero
};

/// What half of the channels of a weight with one scale keep at least where a layer follows: noise
/// of a quarter of the signal's amplitude, as layers in a row add theirs up.
inline constexpr double kLeastSqnrDb = 12;

/// Of `weight` under `params` with one scale, or without one that its values ask for: the median
/// over the channels along `axis`, which are not all zero, of the signal by the noise that rounding
/// adds. Nothing where all are.
std::optional<double> median_sqnr_db(const Tensor& weight, std::int64_t axis,
                                     const QuantParams& params);

/// Weights with one scale per tensor that, in half of their output channels or more, keep less than
/// four times the amplitude of the noise that rounding adds; twice, where what the layer gives is
/// added to another value. The worst first. In a draft, which has no scales, those that
/// the values ask for count.
std::vector<NoisyWeight> noisy_weights(const Model& model, const QuantPlan& plan,
                                       const Placement& placement);

/// One line that names the worst of them; empty where there are none.
std::string warning_of(const std::vector<NoisyWeight>& weights);

}  // namespace qtool
