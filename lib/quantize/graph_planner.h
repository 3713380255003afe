#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "quantize/bias_planner.h"
#include "quantize/bias_requests.h"
#include "quantize/constants.h"
#include "quantize/existing_pairs.h"
#include "quantize/islands.h"
#include "quantize/needed_opset.h"
#include "quantize/node_filter.h"
#include "quantize/plan_builder.h"
#include "quantize/rescaling.h"
#include "quantize/schemes.h"
#include "quantize/slow_nodes.h"
#include "quantize/tensor_overrides.h"

namespace qtool {

/// What all graphs of a model are planned by.
struct PlanContext {
  const Model& model;
  const TensorRanges* ranges;  ///< null for a draft
  const ChannelMeans* means;   ///< null for a draft
  const QuantizationConfig& config;
  const Placement& placement;
  NodeFilter filter;
  bool corrects_biases;
  bool carries_pairs;  ///< the model was quantized before, at least in parts
  const PlanCorrections* corrections = nullptr;  ///< null: none
  const ChannelPeaks* peaks = nullptr;
};

/// Builds a plan in one walk over the nodes of a graph, and those of the bodies in it. Without
/// ranges it drafts: every tensor counts as measurable, and `measured()` tells which were asked
/// for.
class GraphPlanner {
 public:
  GraphPlanner(const PlanContext& context, const onnx::GraphProto& graph,
               const GraphView* outer = nullptr)
      : context_(context),
        model_(context.model),
        ranges_(context.ranges),
        config_(context.config),
        graph_(graph, outer),
        overrides_(config_.extra_options),
        opset_(model_.opset()),
        biases_(model_, graph_, context.corrects_biases, context.means),
        quantizes_unread_(context.placement.takes_everything ||
                          !config_.op_types_to_quantize.empty() ||
                          !config_.nodes_to_quantize.empty()) {
    if (context_.carries_pairs) pairs_.emplace(model_, graph_);
    select_rules();
    if (quantizes_unread_) return;
    leave_slow_nodes(
        model_, graph_, context.placement,
        [this](const onnx::NodeProto& node) { return is_asked_for(node); }, selected_);
    leave_float_weights();
    islands_ = settle_islands(graph_, context.placement, selected_);
  }

  QuantPlan build() {
    for (int index = 0; index < graph_.node_count(); ++index) {
      plan_node(index);
      plan_bodies(index);
    }
    if (!biases_.requests().empty()) {
      plan_biases(model_, graph_, biases_.requests(), zero_channels_, config_.extra_options, plan_);
    }
    drop_replaced();
    plan_.qdq_domain = qdq_domain(plan_, config_, opset_);
    return std::move(plan_);
  }

  std::vector<std::string>& measured() { return measured_; }
  std::vector<AveragedTensor>& averaged() { return biases_.averaged(); }
  std::vector<AveragedTensor>& peaked() { return peaked_; }
  /// Whether the graph has values to measure and none of them was ever seen.
  bool was_never_run() const { return has_unseen_ && !has_seen_; }

 private:
  // Which nodes take part.
  void select_rules();
  bool has_replaceable_weight(const OpRule& rule, const onnx::NodeProto& node) const;
  std::string obstacle_of_pairs(int index) const;
  bool is_asked_for(const onnx::NodeProto& node) const;
  void leave_float_weights();
  void plan_node(int index);
  void complete_node(int index);
  std::string entry_obstacle(const OpRule& rule, const onnx::NodeProto& node) const;
  bool is_bias(const OpRule& rule, const onnx::NodeProto& node, int slot) const;
  std::vector<int> plan_inputs(const OpRule& rule, int index);
  int plan_input(const OpRule& rule, int index, int slot);
  void look_at_pair_sums(int index, std::span<const int> input_plans);
  void plan_outputs(const OpRule& rule, int index, std::span<const int> input_plans);
  bool has_column_scales(const std::string& name, int slot, const ScaleSharing& sharing) const;
  bool needs_integer_output(const OpRule& rule, std::span<const int> input_plans) const;

  // Bodies.
  void plan_bodies(int index);
  QuantPlan plan_of_body(const onnx::NodeProto& node, const onnx::GraphProto& body,
                         const std::string& name);

  // Activations.
  bool reads_quantized(const Use& use) const;
  bool stays_added(Use use) const {
    return context_.placement.adds_to_layers && is_added_to_layer(graph_, selected_, use);
  }
  int activation_plan(std::string_view name) const;
  int plan_activation(const std::string& name, int index);
  void share_activation(const std::string& name, int provider);
  int add_activation(const std::string& name, QuantParams params, std::string derivation);
  std::int64_t scales_that_hold(const std::string& name) const;
  bool is_made_in_integers(const std::string& name) const;
  void set_readers(TensorPlan& plan) const;
  std::string activation_obstacle(const std::string& name) const;
  std::string_view clamped_name(const std::string& name) const;
  bool is_unit_interval(const std::string& name) const;
  std::optional<Range> range_of(const std::string& name);
  double headroom_of(const std::string& name) const;

  // What only rescales.
  NodeContext context_of(int index) const { return {graph_.node(index), graph_, model_, opset_}; }
  void plan_rescaling(int index);
  bool absorb(int index, const Rescaling& rescaling);
  std::optional<double> offset_behind(const std::string& name) const;

  // Relu and Clip.
  void plan_clamp(int index);
  bool is_clamped(const std::string& name) const;
  bool is_seen_quantized(const TensorPlan& plan) const;
  bool refuses(int index, const std::string& name, const std::string& obstacle);
  bool clamps_alone(const std::string& input) const;

  // Constants and biases.
  int plan_constant(Use use, ConstantUse as, const ScaleSharing& sharing);
  ScaleSharing given_axis(const std::string& name) const;
  ScaleSharing weight_sharing(const OpRule& rule, const onnx::NodeProto& node, int slot) const;
  bool can_quantize_output(const onnx::NodeProto& node) const;

  bool excludes_output(const onnx::NodeProto& node) const {
    return std::ranges::find(config_.extra_options.op_types_to_exclude_output_quantization,
                             node.op_type()) !=
           config_.extra_options.op_types_to_exclude_output_quantization.end();
  }
  bool is_draft() const { return ranges_ == nullptr; }
  /// Biases are int32, by the product of two scales; beside float8 they stay as they are.
  bool has_integer_biases() const { return !is_float8(element_type(config_.weight_type)); }
  bool has_blocks(int plan) const {
    return plan >= 0 && plan_.tensors[static_cast<std::size_t>(plan)].params.block_size > 0;
  }
  void skip(int index, const std::string& tensor, const std::string& reason) {
    const auto& node = graph_.node(index);
    plan_.skipped.push_back({index, node.name(), node.op_type(), tensor, reason});
  }
  void drop_replaced();

  const PlanContext& context_;
  const Model& model_;
  const TensorRanges* ranges_;
  const QuantizationConfig& config_;
  GraphView graph_;
  TensorOverrides overrides_;
  std::int64_t opset_;
  BiasRequests biases_;
  std::optional<ExistingPairs> pairs_;  ///< where the model carries some
  bool quantizes_unread_;
  std::vector<SelectedNode> selected_;
  Islands islands_;
  QuantPlan plan_;
  std::unordered_map<std::string, int> activations_;
  std::map<std::tuple<std::string, ConstantUse, std::int64_t>, int> constants_;
  ZeroChannels zero_channels_;
  std::vector<int> replaced_;
  std::unordered_set<std::string> refused_;
  std::vector<std::string> measured_;
  std::vector<AveragedTensor> peaked_;
  bool has_seen_ = false, has_unseen_ = false;  ///< of the graph's own values
};

}  // namespace qtool
