#pragma once

#include <map>
#include <string>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"
#include "quantize/params.h"
#include "quantize/plan.h"

namespace qtool {

/// Activation name -> how much coarser its scale becomes, 1 to 2: the integers that its values then
/// need not take leave room in the 16-bit sums of the layers that read it.
using Headroom = std::map<std::string, double>;

/// What calibration saw by channel.
struct ChannelStatistics {
  const ChannelMeans& means;
  const ChannelPeaks& peaks;
};

/// Where sums in 16 bits (pair_sums.h) made scales of weights in `plan` wider: which activations to
/// quantize coarser instead. Chosen for the least noise: relative to what a layer gives, rounding
/// adds s² / 12 by the mean square of the activation, and the same of the weight under the scales
/// that it then needs. Of the activation only the mean is known: that of its square is taken as
/// twice the mean's, as where values fall off exponentially from zero. So only activations that are
/// never negative, and have means in `channels`, become coarser, and not those whose scale a user
/// or another tensor gives.
Headroom headroom_for_pair_sums(const Model& model, const QuantPlan& plan,
                                const ChannelStatistics& channels,
                                const QuantizationConfig& config);

/// `params`, which have one scale and its zero at the lowest integer, with a scale `factor` times
/// as large.
QuantParams with_headroom(QuantParams params, double factor);

}  // namespace qtool
