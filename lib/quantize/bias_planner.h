#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/plan.h"

namespace qtool {

/// A bias whose input and weight are quantized.
struct BiasRequest {
  Use use;              ///< where the bias is read
  int input_plan = -1;  ///< indices into the plan's tensors
  int weight_plan = -1;
  std::int64_t channel_axis =
      0;  ///< axis of the weight that counts output channels, also where it has one scale
  std::int64_t groups = 1;
  float factor = 1;  ///< the values count this many times
  std::string name;  ///< of the bias; of one that the node does not have, a new one
  /// What each output channel is off on average by the quantized weight; empty: not known.
  std::vector<double> output_error;
};

/// All-zero channels of the planned constants, by plan index.
using ZeroChannels = std::unordered_map<int, std::vector<bool>>;

/// Adds a plan for each request, but for a bias that int32 cannot hold. Weight scales are settled
/// first for all of them, since two biases may share a weight. With `QuantizeBias` off only where a
/// runtime that quantizes float biases by itself would overflow int32.
void plan_biases(const Model& model, const GraphView& graph, std::span<const BiasRequest> requests,
                 const ZeroChannels& zero_channels, const ExtraOptions& options, QuantPlan& plan);

}  // namespace qtool
