#include "quantize/bias_requests.h"

#include <utility>

#include "quantize/bias_correction.h"

namespace qtool {
namespace {

bool is_quantizable(const onnx::TensorProto& bias) {
  return element_type(bias) == ElementType::Float || element_type(bias) == ElementType::Float16;
}

}  // namespace

void BiasRequests::look_at(const OpRule& rule, Use use, std::span<const int> input_plans,
                           QuantPlan& plan) {
  const auto& node = graph_.node(use.node);
  const bool has_scale = input_plans[0] >= 0 && input_plans[1] >= 0;
  const bool can_correct = corrects_ && has_scale && summed_axis(node) >= 0 &&
                           graph_.initializer(node.input(1)) != nullptr &&
                           element_type(*graph_.initializer(node.input(1))) == ElementType::Float;
  if (means_ == nullptr) {
    if (can_correct) averaged_.push_back({node.input(0), summed_axis(node)});
    return;
  }
  if (has_bias(use)) {
    const std::string& name = node.input(use.slot);
    const std::string reason = obstacle(use, has_scale);
    if (!reason.empty())
      return plan.skipped.push_back({use.node, node.name(), node.op_type(), name, reason});
    if (!is_quantizable(*graph_.initializer(name))) return;
  }
  std::vector<double> error;
  if (can_correct)
    error = output_error(node, plan.tensors[static_cast<std::size_t>(input_plans[1])]);
  if (has_bias(use) || !error.empty()) request(rule, use, input_plans, std::move(error));
}

bool BiasRequests::has_bias(Use use) const {
  const auto& node = graph_.node(use.node);
  return use.slot < node.input_size() && !node.input(use.slot).empty();
}

/// Why a bias stays in float, or nothing; one of integers is none.
std::string BiasRequests::obstacle(Use use, bool has_scale) const {
  const std::string& name = graph_.node(use.node).input(use.slot);
  const onnx::TensorProto* bias = graph_.initializer(name);
  if (!bias) return "a computed bias stays float";
  if (!is_quantizable(*bias)) return "";
  if (graph_.is_graph_input(name)) return "is a default that a caller may replace";
  return has_scale ? "" : "the bias has no scale: not both the input and the weight are quantized";
}

std::vector<double> BiasRequests::output_error(const onnx::NodeProto& node,
                                               const TensorPlan& weight) const {
  const auto means = means_->find(node.input(0));
  if (means == means_->end()) return {};
  return mean_output_error(node, model_.tensor(*graph_.initializer(node.input(1))), weight.params,
                           means->second);
}

void BiasRequests::request(const OpRule& rule, Use use, std::span<const int> input_plans,
                           std::vector<double> error) {
  const auto& node = graph_.node(use.node);
  const onnx::TensorProto* weight = graph_.initializer(node.input(1));
  const auto rank = static_cast<std::size_t>(weight ? weight->dims_size() : 0);
  requests_.push_back({.use = use,
                       .input_plan = input_plans[0],
                       .weight_plan = input_plans[1],
                       .channel_axis = normalized_axis(rule.input(1).channel_axis, rank),
                       .groups = rule.bias_groups,
                       .factor = rule.bias_factor,
                       .name = has_bias(use) ? node.input(use.slot) : node.output(0) + "_bias",
                       .output_error = std::move(error)});
}

}  // namespace qtool
