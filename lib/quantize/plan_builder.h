#pragma once

#include <set>
#include <string>
#include <vector>

#include "calibrate/ranges.h"
#include "config/config.h"
#include "model/model.h"
#include "quantize/op_rules.h"
#include "quantize/pair_headroom.h"
#include "quantize/plan.h"

namespace qtool {

/// What calibration has to watch.
struct Measurements {
  std::vector<std::string> tensors;      ///< whose range `build_plan` will ask for, in graph order
  std::vector<AveragedTensor> averaged;  ///< whose means per channel it can make use of
  std::vector<AveragedTensor> peaked;    ///< the same of their largest magnitudes
};
Measurements measurements(const Model& model, const QuantizationConfig& config,
                          const Placement& placement);

/// What a first plan shows to be better otherwise.
struct PlanCorrections {
  std::set<std::string> float_weights;  ///< layers that multiply with one stay in float
  Headroom headroom;                    ///< of activations
};

/// The plan as far as it shows without data: every tensor counts as having a range, and no
/// parameters are computed.
QuantPlan draft_plan(const Model& model, const QuantizationConfig& config,
                     const Placement& placement, const PlanCorrections& corrections = {});

/// Decides, for the main graph of `model` and the bodies in it, which tensors are quantized and
/// how. Changes nothing. The model's nodes are in topological order and its constants are
/// initializers (see normalize). A tensor without a range stays in float and is listed with the
/// reason; a bias whose input has no mean is not corrected; an input without peaks counts as any
/// integers. What the user says stands before `corrections`.
QuantPlan build_plan(const Model& model, const TensorRanges& ranges, const ChannelMeans& means,
                     const QuantizationConfig& config, const Placement& placement,
                     const PlanCorrections& corrections = {}, const ChannelPeaks& peaks = {});

}  // namespace qtool
