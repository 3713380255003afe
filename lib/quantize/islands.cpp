#include "quantize/islands.h"

#include <algorithm>

namespace qtool {
namespace {

/// Each round looks at the whole graph once. Real graphs settle in three or four; one that does not
/// keeps a few operators quantized that gain nothing, which is no error.
constexpr int kMaxRounds = 16;

class Settling {
 public:
  Settling(const GraphView& graph, std::vector<SelectedNode>& nodes)
      : graph_(graph), nodes_(nodes) {}

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

  bool reads_float(const OpRule& rule, const onnx::NodeProto& node) const {
    for (int slot = 0; slot < node.input_size(); ++slot) {
      if (rule.input(slot).role == InputRole::Activation && is_float(node.input(slot))) return true;
    }
    return false;
  }

  /// Backwards: which values are read in integers, and which operators nobody reads so.
  bool find_read() {
    bool changed = false;
    islands_.read.clear();
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
      for (int slot = 0; slot < node.input_size(); ++slot) {
        const InputRole role = rule->input(slot).role;
        if (role == InputRole::Activation || role == InputRole::Weight)
          islands_.read.insert(node.input(slot));
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
        if (!rule->gives_integers && !is_read(node)) continue;
      } else if (reads_float(*rule, node)) {
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
  std::vector<SelectedNode>& nodes_;
  Islands islands_;
};

}  // namespace

Islands settle_islands(const GraphView& graph, std::vector<SelectedNode>& nodes) {
  return Settling(graph, nodes).run();
}

}  // namespace qtool
