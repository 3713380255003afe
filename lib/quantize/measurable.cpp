#include "quantize/measurable.h"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "model/graph_view.h"
#include "quantize/bias_correction.h"
#include "quantize/op_rules.h"

namespace qtool {
namespace {

bool is_value(const GraphView& graph, const std::string& name) {
  return graph.producer_of(name) >= 0 || graph.is_graph_input(name) || graph.initializer(name);
}

bool is_float(ElementType type) {
  return type == ElementType::Float || type == ElementType::Float16 ||
         type == ElementType::BFloat16;
}

/// Collects names in the order in which nodes mention them, those of a body where its node stands.
class Collector {
 public:
  explicit Collector(const QuantizationConfig& config) : op_types_(config.op_types_to_quantize) {}

  void collect(const onnx::GraphProto& graph);
  std::vector<std::string>& names() { return names_; }
  std::vector<AveragedTensor>& averaged() { return averaged_; }
  std::vector<ChannelInput>& inputs() { return inputs_; }

 private:
  const OpRule* rule_for(const onnx::NodeProto& node) const;
  const GraphView* owner_of(const std::string& name) const;
  const onnx::TensorProto* constant(const std::string& name) const;
  void collect_bodies(const onnx::NodeProto& node);
  void add_values(const onnx::NodeProto& node, const OpRule& rule);
  void add(const std::string& name);

  /// The main graph, then the bodies that lead to the one at hand, which may read from all of them.
  std::deque<GraphView> scopes_;
  const std::vector<std::string>& op_types_;
  std::vector<std::string> names_;
  std::vector<AveragedTensor> averaged_;
  std::vector<ChannelInput> inputs_;
  std::unordered_set<std::string> seen_;
};

const OpRule* Collector::rule_for(const onnx::NodeProto& node) const {
  const bool is_listed = std::ranges::find(op_types_, node.op_type()) != op_types_.end();
  if (!op_types_.empty() && !is_listed) return nullptr;
  for (const Preset preset : {Preset::Cpu, Preset::OnnxRuntime}) {
    const OpRule* rule = find_rule(placement_for(preset), node.op_type(), node.domain());
    if (rule != nullptr) return rule;
  }
  return is_listed ? &generic_rule() : nullptr;
}

/// The graph that has the value, from the innermost outwards.
const GraphView* Collector::owner_of(const std::string& name) const {
  const auto has_it = [&](const GraphView& graph) { return is_value(graph, name); };
  const auto found = std::find_if(scopes_.rbegin(), scopes_.rend(), has_it);
  return found == scopes_.rend() ? nullptr : &*found;
}

const onnx::TensorProto* Collector::constant(const std::string& name) const {
  const GraphView* graph = owner_of(name);
  return graph == nullptr ? nullptr : graph->initializer(name);
}

void Collector::add(const std::string& name) {
  const GraphView* graph = name.empty() ? nullptr : owner_of(name);
  if (graph == nullptr || graph->initializer(name) || !is_float(graph->type_of(name))) return;
  const int producer = graph->producer_of(name);
  if (producer >= 0 && graph->node(producer).op_type() == "DequantizeLinear") return;
  if (seen_.insert(name).second) names_.push_back(name);
}

void Collector::add_values(const onnx::NodeProto& node, const OpRule& rule) {
  for (int slot = 0; slot < node.input_size(); ++slot) {
    const InputRole role = rule.input(slot).role;
    if (role == InputRole::Activation || role == InputRole::Weight) add(node.input(slot));
  }
  for (const std::string& name : node.output()) add(name);
  if (node.input_size() < 2 || !seen_.contains(node.input(0))) return;
  const onnx::TensorProto* weight = constant(node.input(1));
  if (weight == nullptr) return;
  if (const std::int64_t axis = summed_axis(node); axis >= 0)
    averaged_.push_back({node.input(0), axis});
  if (auto input = channel_input(node, *weight)) inputs_.push_back(std::move(*input));
}

void Collector::collect_bodies(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) collect(attribute.g());
    for (const auto& graph : attribute.graphs()) collect(graph);
  }
}

void Collector::collect(const onnx::GraphProto& graph) {
  scopes_.emplace_back(graph);
  for (const onnx::NodeProto& node : graph.node()) {
    if (const OpRule* rule = rule_for(node)) add_values(node, *rule);
    collect_bodies(node);
  }
  scopes_.pop_back();
}

}  // namespace

std::vector<std::string> measurable_tensors(const Model& model, const QuantizationConfig& config) {
  Collector collector(config);
  collector.collect(model.graph());
  return std::move(collector.names());
}

std::vector<AveragedTensor> averageable_tensors(const Model& model,
                                                const QuantizationConfig& config) {
  Collector collector(config);
  collector.collect(model.graph());
  return std::move(collector.averaged());
}

std::vector<ChannelInput> channel_inputs(const Model& model, const QuantizationConfig& config) {
  Collector collector(config);
  collector.collect(model.graph());
  return std::move(collector.inputs());
}

}  // namespace qtool
