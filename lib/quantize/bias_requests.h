#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/ranges.h"
#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/bias_planner.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// Which biases the plan builder wants planned once everything else is, and what they are to make
/// up for. Without means (a draft) it notes instead whose means would serve.
class BiasRequests {
 public:
  /// `corrects`: see corrects_biases(). `means` is null for a draft.
  BiasRequests(const Model& model, const GraphView& graph, bool corrects, const ChannelMeans* means)
      : model_(model), graph_(graph), corrects_(corrects), means_(means) {}

  /// Looks at the bias that `rule` has at `use`, also where the node has none there. `input_plans`
  /// are those of the node's first two inputs, -1 where they stay float. A bias that stays in float
  /// is listed in the plan with the reason.
  void look_at(const OpRule& rule, Use use, std::span<const int> input_plans, QuantPlan& plan);

  const std::vector<BiasRequest>& requests() const { return requests_; }
  std::vector<AveragedTensor>& averaged() { return averaged_; }

 private:
  bool has_bias(Use use) const;
  std::string obstacle(Use use, bool has_scale) const;
  std::vector<double> output_error(const onnx::NodeProto& node, const TensorPlan& weight) const;
  void request(const OpRule& rule, Use use, std::span<const int> input_plans,
               std::vector<double> error);

  const Model& model_;
  const GraphView& graph_;
  bool corrects_;
  const ChannelMeans* means_;
  std::vector<BiasRequest> requests_;
  std::vector<AveragedTensor> averaged_;
};

}  // namespace qtool
