#include "quantize/islands.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "quantize/rescaling.h"

namespace qtool {
namespace {

/// Each round looks at the whole graph once. Real graphs settle in three or four; one that does not
/// keeps a few operators quantized that gain nothing, which is no error.
constexpr int kMaxRounds = 16;

/// Of the weights of a Conv whose float kernel has a form for few channels.
constexpr int kImageRank = 4;

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

/// Tells which operators and nodes gain nothing by integers.
class SlowNodes {
 public:
  SlowNodes(const Model& model, const GraphView& graph, const Placement& placement)
      : model_(model), graph_(graph), placement_(placement) {}

  /// Why the node gains nothing by its rule, or nothing.
  std::string obstacle(const OpRule& rule, const onnx::NodeProto& node) const {
    if (placement_.runtime != 0 && (rule.integer_on & placement_.runtime) == 0)
      return "there is no integer kernel for it";
    const NodeContext context{node, graph_, model_, model_.opset()};
    std::string found = rule.obstacle ? rule.obstacle(context, placement_.runtime) : "";
    if (found.empty() && placement_.needs_constant_weights && has_computed_weight(rule, node))
      found = "its second input is computed: integers are no faster";
    return found;
  }

  /// What the node does where a scale or a zero point can do it. Before a Relu or Clip alone a
  /// quantizer saves more: it clamps.
  std::optional<Rescaling> free_rescaling(const onnx::NodeProto& node) const {
    if (!placement_.rescales_for_free) return std::nullopt;
    const auto found = rescaling_at({node, graph_, model_, model_.opset()});
    if (!found || found->offset == 0) return found;
    const auto uses = graph_.uses_of(node.output(0));
    const auto clamps = [&](const Use& use) {
      const std::string& type = graph_.node(use.node).op_type();
      return type == "Relu" || type == "Clip";
    };
    return uses.size() == 1 && clamps(uses.front()) ? std::nullopt : found;
  }

 private:
  bool has_computed_weight(const OpRule& rule, const onnx::NodeProto& node) const {
    if (node.input_size() < 2 || rule.input(1).role != InputRole::Weight) return false;
    const int producer = graph_.producer_of(node.input(1));
    // One that is stored as integers already is as good as constant.
    const bool is_dequantized =
        producer >= 0 && graph_.node(producer).op_type() == "DequantizeLinear";
    return !is_dequantized && !graph_.initializer(node.input(1));
  }

  const Model& model_;
  const GraphView& graph_;
  const Placement& placement_;
};

/// Tells, asked for each node in order, which layers of few channels stay in float.
class FewChannels {
 public:
  FewChannels(const GraphView& graph, const Placement& placement,
              const std::vector<SelectedNode>& nodes)
      : graph_(graph), placement_(placement), nodes_(nodes) {
    for (int index = graph_.node_count(); index-- > 0;) look_back(graph_.node(index), index);
  }

  /// Why the layer stays in float, or nothing. Float kernels are faster for a Conv of few input
  /// channels, while integers are first copied by window, as long as they need not be made floats
  /// for it; but not where a MaxPool follows, which gains more by integers. Behind a first such
  /// Conv depthwise and 1x1 Convs of few channels gain little or nothing by integers, and all
  /// layers behind would pass on their errors.
  std::string reason(int index) const {
    const auto& node = graph_.node(index);
    const onnx::TensorProto* weight = weight_of_image(node);
    if (!weight || !before_layer_.contains(node.output(0))) return {};
    const auto groups = int_attribute(node, "group", 1);
    const auto channels = weight->dims(1) * groups;
    const Layers before = layers_before(node);
    const bool is_depthwise = weight->dims(1) == 1 && groups > 1;
    const bool is_pointwise = weight->dims(2) == 1 && weight->dims(3) == 1;
    const bool has_few = groups == 1 && channels <= placement_.float_channels;
    if (has_few && (before == kNone || (before == kFloat && !is_pointwise)) &&
        !feeds_max_pool(node.output(0)))
      return "of few input channels: float is faster";
    return before == kFloat && (is_depthwise || is_pointwise) &&
                   channels <= placement_.float_channels_behind
               ? "in the first block, of few channels: float is as fast, and exact"
               : "";
  }

  /// To be called behind each node, when it is known whether it stays in float.
  void look_forth(int index) {
    const auto& node = graph_.node(index);
    Layers layers = layers_before(node);
    if (rule_of(index) == &float_layer_rule())
      layers |= kFloat;
    else if (is_layer(index))
      layers |= kIntegers;
    if (layers == kNone) return;
    for (const std::string& name : node.output()) behind_[name] = layers;
  }

 private:
  /// What layers a value has gone through.
  using Layers = unsigned;
  static constexpr Layers kNone = 0, kFloat = 1, kIntegers = 2;

  const OpRule* rule_of(int index) const { return nodes_[static_cast<std::size_t>(index)].rule; }
  bool is_layer(int index) const {
    return rule_of(index) && rule_of(index)->entry == Entry::Always;
  }

  Layers layers_before(const onnx::NodeProto& node) const {
    Layers out = kNone;
    for (const std::string& name : node.input()) {
      const auto found = behind_.find(name);
      if (found != behind_.end()) out |= found->second;
    }
    return out;
  }

  /// The constant weight of a Conv over two axes, or nullptr.
  const onnx::TensorProto* weight_of_image(const onnx::NodeProto& node) const {
    if (node.op_type() != "Conv" || node.input_size() < 2) return nullptr;
    const onnx::TensorProto* weight = graph_.initializer(node.input(1));
    return weight && weight->dims_size() == kImageRank ? weight : nullptr;
  }

  void look_back(const onnx::NodeProto& node, int index) {
    const auto is_before = [&](const auto& name) {
      return !name.empty() && before_layer_.contains(name);
    };
    if (is_layer(index) || std::ranges::any_of(node.output(), is_before))
      before_layer_.insert(node.input().begin(), node.input().end());
  }

  bool feeds_max_pool(const std::string& value) const {
    return std::ranges::any_of(graph_.uses_of(value), [&](const Use& use) {
      const OpRule* rule = rule_of(use.node);
      if (!rule) return false;
      if (rule->outputs == OutputParams::FoldedIntoProducer)
        return feeds_max_pool(graph_.node(use.node).output(0));
      return rule->op_type == "MaxPool";
    });
  }

  const GraphView& graph_;
  const Placement& placement_;
  const std::vector<SelectedNode>& nodes_;
  std::unordered_set<std::string_view> before_layer_;
  std::unordered_map<std::string_view, Layers> behind_;
};

}  // namespace

void leave_slow_nodes(const Model& model, const GraphView& graph, const Placement& placement,
                      const std::function<bool(const onnx::NodeProto&)>& is_asked_for,
                      std::vector<SelectedNode>& nodes) {
  const SlowNodes slow(model, graph, placement);
  for (int index = 0; index < graph.node_count(); ++index) {
    SelectedNode& node = nodes[static_cast<std::size_t>(index)];
    if (!node.rule || is_asked_for(graph.node(index))) continue;
    if (const auto rescaling = slow.free_rescaling(graph.node(index))) {
      node.rule = &rescaling_rule(rescaling->slot);
      continue;
    }
    std::string obstacle = slow.obstacle(*node.rule, graph.node(index));
    if (!obstacle.empty()) node = {nullptr, std::move(obstacle)};
  }
  FewChannels few(graph, placement, nodes);
  for (int index = 0; index < graph.node_count(); ++index) {
    std::string reason = few.reason(index);
    if (!reason.empty() && !is_asked_for(graph.node(index)))
      nodes[static_cast<std::size_t>(index)] = {&float_layer_rule(), std::move(reason)};
    few.look_forth(index);
  }
}

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
