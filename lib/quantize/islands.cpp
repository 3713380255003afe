#include "quantize/islands.h"

#include <algorithm>

namespace qtool {
namespace {

/// Each round looks at the whole graph once. Real graphs settle in three or four; one that does not
/// keeps a few operators quantized that gain nothing, which is no error.
constexpr int kMaxRounds = 16;

class Settling {
 public:
  Settling(const GraphView& graph, const Placement& placement, std::vector<SelectedNode>& nodes)
      : graph_(graph), placement_(placement), nodes_(nodes) {}

  Islands run() {
    for (int round = 0; round < kMaxRounds; ++round) {
      const bool changed_back = find_read();
      const bool changed_forth = find_made();
      if (!changed_back && !changed_forth) break;
    }
    return std::move(islands_);
  }

 private:
  SelectedNode& at(int index) { return nodes_[static_cast<std::size_t>(index)]; }

  void drop(int index, const char* reason) { at(index) = {nullptr, reason}; }

  bool is_read(const onnx::NodeProto& node) const {
    return std::ranges::any_of(node.output(),
                               [&](const auto& name) { return islands_.read.contains(name); });
  }

  /// A computed float tensor that nobody made in integers.
  bool is_float(const std::string& name) const {
    if (name.empty() || graph_.initializer(name) || islands_.made.contains(name)) return false;
    const ElementType type = graph_.type_of(name);
    return type == ElementType::Float || type == ElementType::Undefined;
  }

  /// Whether too much of what the node reads comes in floats.
  bool reads_float(const OpRule& rule, int index) const {
    const auto& node = graph_.node(index);
    bool has_float = false, has_integers = false;
    for (int slot = 0; slot < node.input_size(); ++slot) {
      if (rule.input(slot).role != InputRole::Activation || stays_float({index, slot})) continue;
      has_float |= is_float(node.input(slot));
      has_integers |= islands_.made.contains(node.input(slot));
    }
    return has_float && !(has_integers && placement_.joins_mixed_inputs);
  }

  bool stays_float(Use use) const {
    return placement_.adds_to_layers && is_added_to_layer(graph_, nodes_, use);
  }

  bool is_read_by_layer(const onnx::NodeProto& node) const {
    return std::ranges::any_of(node.output(),
                               [&](const auto& name) { return read_by_layer_.contains(name); });
  }

  /// Whether a layer gives its output in integers.
  bool gives_integers(const OpRule& rule, const onnx::NodeProto& node) const {
    if (rule.gives_integers && !placement_.layers_give_floats) return true;
    return placement_.sums_in_float ? is_read_by_layer(node) : is_read(node);
  }

  /// Backwards: which values are read in integers, and which operators nobody reads so.
  bool find_read() {
    bool changed = false;
    islands_.read.clear();
    read_by_layer_.clear();
    for (int index = graph_.node_count(); index-- > 0;) {
      const auto& node = graph_.node(index);
      const OpRule* rule = at(index).rule;
      if (!rule) continue;
      if (rule->entry != Entry::Always && !is_read(node)) {
        if (rule->entry != Entry::OutputRead) continue;
        drop(index, "no quantized operator reads its output");
        changed = true;
        continue;
      }
      const bool keeps_values = rule->outputs == OutputParams::SharedWithInput ||
                                rule->outputs == OutputParams::FoldedIntoProducer ||
                                rule->outputs == OutputParams::Rescaled;
      const bool leads_to_layer =
          rule->entry == Entry::Always || (keeps_values && is_read_by_layer(node));
      for (int slot = 0; slot < node.input_size(); ++slot) {
        const InputRole role = rule->input(slot).role;
        if (role != InputRole::Activation && role != InputRole::Weight) continue;
        if (stays_float({index, slot})) continue;
        islands_.read.insert(node.input(slot));
        if (leads_to_layer) read_by_layer_.insert(node.input(slot));
      }
    }
    return changed;
  }

  /// Forwards: which values are made in integers, and which operators read floats.
  bool find_made() {
    bool changed = false;
    islands_.made.clear();
    for (int index = 0; index < graph_.node_count(); ++index) {
      const auto& node = graph_.node(index);
      const OpRule* rule = at(index).rule;
      if (!rule) continue;
      if (rule->entry == Entry::Always) {
        if (rule->computes_in_float || !gives_integers(*rule, node)) continue;
      } else if (reads_float(*rule, index)) {
        drop(index, rule->entry == Entry::OutputRead ? "an input of it comes from a float operator"
                                                     : "its input is not quantized");
        changed = true;
        continue;
      }
      islands_.made.insert(node.output().begin(), node.output().end());
    }
    return changed;
  }

  const GraphView& graph_;
  const Placement& placement_;
  std::vector<SelectedNode>& nodes_;
  Islands islands_;
  std::unordered_set<std::string_view> read_by_layer_;  ///< directly, moved or clamped
};

}  // namespace

bool is_added_to_layer(const GraphView& graph, const std::vector<SelectedNode>& nodes, Use use) {
  const auto& node = graph.node(use.node);
  if (node.op_type() != "Add") return false;
  for (int slot = 0; slot < node.input_size(); ++slot) {
    const std::string& name = node.input(slot);
    const int producer = graph.producer_of(name);
    const OpRule* maker = producer < 0 ? nullptr : nodes[static_cast<std::size_t>(producer)].rule;
    const bool is_alone =
        graph.uses_of(name).size() == 1 && !graph.is_graph_output(name) && !graph.is_captured(name);
    const bool multiplies = maker && maker->entry == Entry::Always && !maker->computes_in_float;
    if (multiplies && is_alone) return slot == use.slot;
  }
  return false;
}

Islands settle_islands(const GraphView& graph, const Placement& placement,
                       std::vector<SelectedNode>& nodes) {
  return Settling(graph, placement, nodes).run();
}

}  // namespace qtool
