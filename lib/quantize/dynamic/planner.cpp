#include "quantize/dynamic/planner.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>

#include "quantize/dynamic/rules.h"
#include "quantize/node_filter.h"
#include "quantize/size_nodes.h"

namespace qtool {
namespace {

constexpr const char* kComputesSize = "computes sizes, which rounding would change";

/// The walk over all graphs, a body behind the node that holds it.
class DynamicWalk {
 public:
  DynamicWalk(const Model& model, const QuantizationConfig& config)
      : model_(model), config_(config), weights_(model, config) {}

  DynamicPlan run() {
    plan(model_.graph());
    plan_.weights = weights_.take();
    return std::move(plan_);
  }

 private:
  void plan(const onnx::GraphProto& graph);
  std::string quantize(const NodeFilter& filter, const onnx::NodeProto& node, DynamicNode& out);
  bool is_asked_for(const onnx::NodeProto& node) const;
  void warn_of_defaults(const onnx::NodeProto& node, const DynamicNode& planned);
  void drop_bypassed(std::size_t number, const std::map<int, std::size_t>& left);

  const Model& model_;
  const QuantizationConfig& config_;
  WeightStore weights_;
  GraphScopes scopes_;
  DynamicPlan plan_;
};

void DynamicWalk::plan(const onnx::GraphProto& graph) {
  scopes_.enter(graph);
  const auto number = plan_.graphs.size();
  plan_.graphs.emplace_back();
  std::map<int, std::size_t> left;  // node -> its place in plan_.left
  const NodeFilter filter(graph, config_, dynamic_placement());
  const std::vector<bool> computes_size = size_nodes(scopes_.innermost());
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    DynamicNode planned{.node = i, .inputs = {}};
    const std::string reason = computes_size[static_cast<std::size_t>(i)]
                                   ? kComputesSize
                                   : quantize(filter, node, planned);
    if (reason.empty()) {
      warn_of_defaults(node, planned);
      ++plan_.forms[{node.op_type(), planned.form}];
      plan_.graphs[number].push_back(std::move(planned));
      ++plan_.quantized_nodes;
    } else {
      left[i] = plan_.left.size();
      plan_.left.push_back({i, display_name(node), node.op_type(), "", reason});
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) plan(attribute.g());
      for (const auto& each : attribute.graphs()) plan(each);
    }
  }
  drop_bypassed(number, left);
  scopes_.leave();
}

/// A node that only brought weights to products, which have them in integers now, is none that
/// stays in float.
void DynamicWalk::drop_bypassed(std::size_t number, const std::map<int, std::size_t>& left) {
  const GraphView& view = scopes_.innermost();
  std::map<std::string, std::set<int>> products;  // by the value that they read a weight behind
  for (const DynamicNode& node : plan_.graphs[number])
    for (const auto& [graph, value] : node.bypassed) products[value].insert(node.node);
  std::set<int> gone;
  std::vector<std::size_t> places;
  for (auto entry = left.rbegin(); entry != left.rend() && !products.empty(); ++entry) {
    const onnx::NodeProto& node = view.node(entry->first);
    const std::string value = node.output_size() > 0 ? node.output(0) : "";
    const auto found = products.find(value);
    if (found == products.end() || view.is_captured(value) || view.is_graph_output(value)) continue;
    const bool is_read = std::ranges::any_of(view.uses_of(value), [&](const Use& use) {
      const bool is_weight = use.slot == 1 && found->second.contains(use.node);
      return !is_weight && !gone.contains(use.node);
    });
    if (is_read) continue;
    gone.insert(entry->first);
    places.push_back(entry->second);
  }
  for (const std::size_t place : places)
    plan_.left.erase(plan_.left.begin() + static_cast<std::ptrdiff_t>(place));
}

std::string DynamicWalk::quantize(const NodeFilter& filter, const onnx::NodeProto& node,
                                  DynamicNode& out) {
  std::string reason;
  if (filter.rule_for(node, reason) == nullptr) return reason;
  const DynamicRule* rule = find_dynamic_rule(node.op_type(), node.domain());
  if (rule == nullptr) return "the operator has no form that is quantized at run time";
  if (rule->is_on_demand && !is_asked_for(node))
    return fmt::format("is slower in integers than in float; '--op-types-to-quantize {}' does it",
                       node.op_type());
  return rule->plan({node, scopes_, weights_, config_, model_.opset()}, out);
}

/// By its type or its name: whatever the lists of the config name has passed the filter.
bool DynamicWalk::is_asked_for(const onnx::NodeProto& node) const {
  return !config_.nodes_to_quantize.empty() ||
         std::ranges::count(config_.op_types_to_quantize, node.op_type()) > 0;
}

void DynamicWalk::warn_of_defaults(const onnx::NodeProto& node, const DynamicNode& planned) {
  for (std::size_t slot = 0; slot < planned.inputs.size(); ++slot) {
    if (planned.inputs[slot] < 0 || model_.proto().ir_version() < 4) continue;
    const std::string& name = node.input(static_cast<int>(slot));
    if (!scopes_.innermost().is_graph_input(name)) continue;
    plan_.warnings.push_back(fmt::format(
        "input '{}' has a default, which is quantized: callers can no longer replace it", name));
  }
}

}  // namespace

DynamicPlan plan_dynamic(const Model& model, const QuantizationConfig& config) {
  return DynamicWalk(model, config).run();
}

}  // namespace qtool
