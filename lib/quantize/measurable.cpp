#include "quantize/measurable.h"

#include <algorithm>
#include <unordered_set>

#include "model/graph_view.h"
#include "quantize/bias_correction.h"
#include "quantize/op_rules.h"

namespace qtool {
namespace {

/// Collects names in the order in which nodes mention them.
class Collector {
 public:
  Collector(const Model& model, const QuantizationConfig& config)
      : graph_(model.graph()), op_types_(config.op_types_to_quantize) {}

  void collect();
  std::vector<std::string>& names() { return names_; }
  std::vector<AveragedTensor>& averaged() { return averaged_; }

 private:
  const OpRule* rule_for(const onnx::NodeProto& node) const;
  void add_values(const onnx::NodeProto& node, const OpRule& rule);
  void add(const std::string& name);

  GraphView graph_;
  const std::vector<std::string>& op_types_;
  std::vector<std::string> names_;
  std::vector<AveragedTensor> averaged_;
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

void Collector::add(const std::string& name) {
  if (name.empty() || graph_.initializer(name) || graph_.type_of(name) != ElementType::Float)
    return;
  const int producer = graph_.producer_of(name);
  if (producer >= 0 && graph_.node(producer).op_type() == "DequantizeLinear") return;
  if (seen_.insert(name).second) names_.push_back(name);
}

void Collector::add_values(const onnx::NodeProto& node, const OpRule& rule) {
  for (int slot = 0; slot < node.input_size(); ++slot) {
    const InputRole role = rule.input(slot).role;
    if (role == InputRole::Activation || role == InputRole::Weight) add(node.input(slot));
  }
  for (const std::string& name : node.output()) add(name);
  const std::int64_t axis = summed_axis(node);
  if (axis >= 0 && node.input_size() > 1 && seen_.contains(node.input(0)) &&
      graph_.initializer(node.input(1)))
    averaged_.push_back({node.input(0), axis});
}

void Collector::collect() {
  for (const onnx::NodeProto& node : graph_.graph().node()) {
    if (const OpRule* rule = rule_for(node)) add_values(node, *rule);
  }
}

}  // namespace

std::vector<std::string> measurable_tensors(const Model& model, const QuantizationConfig& config) {
  Collector collector(model, config);
  collector.collect();
  return std::move(collector.names());
}

std::vector<AveragedTensor> averageable_tensors(const Model& model,
                                                const QuantizationConfig& config) {
  Collector collector(model, config);
  collector.collect();
  return std::move(collector.averaged());
}

}  // namespace qtool
