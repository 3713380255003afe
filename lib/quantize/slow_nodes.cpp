#include "quantize/slow_nodes.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "quantize/rescaling.h"

namespace qtool {
namespace {

/// Of the weights of a Conv whose float kernel has a form for few channels.
constexpr int kImageRank = 4;
/// Convs of several channels in groups, of fewer products to a value, take 1 to 2.5 times as long
/// in integers.
constexpr std::int64_t kLeastProductsOfGroup = 64;

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
    if (!weight || placement_.float_channels == 0) return {};
    const auto groups = int_attribute(node, "group", 1);
    const auto products = weight->dims(1) * weight->dims(2) * weight->dims(3);
    if (groups > 1 && weight->dims(1) > 1 && products < kLeastProductsOfGroup)
      return "its groups are small: float is faster";
    if (!before_layer_.contains(node.output(0))) return {};
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

/// Tells which layers a logarithm follows. Of spectra it makes as much of small values as of large
/// ones, and those are what rounding takes most from.
class LoggedLayers {
 public:
  LoggedLayers(const GraphView& graph, const std::vector<SelectedNode>& nodes) {
    std::unordered_set<std::string_view> logged;
    for (int index = graph.node_count(); index-- > 0;) {
      const auto& node = graph.node(index);
      const bool is_logged = std::ranges::any_of(node.output(), [&](const std::string& name) {
        return !name.empty() && logged.contains(name);
      });
      const OpRule* rule = nodes[static_cast<std::size_t>(index)].rule;
      if (is_logged && rule && rule->entry == Entry::Always) {
        layers_.insert(index);
      } else if (node.op_type() == "Log" || (is_logged && keeps_ratios(node.op_type()))) {
        logged.insert(node.input().begin(), node.input().end());
      }
    }
  }

  std::string reason(int index) const {
    return layers_.contains(index) ? "a logarithm follows, which makes much of small errors" : "";
  }

 private:
  /// Operators that spectra go through on their way to a logarithm: powers, sums, bounds and moves.
  static bool keeps_ratios(std::string_view op_type) {
    static const std::set<std::string_view> operators = {
        "Abs",      "Add",        "Cast",      "Clip",
        "Concat",   "Div",        "Expand",    "Identity",
        "Max",      "Mul",        "Pad",       "Pow",
        "ReduceL2", "ReduceMean", "ReduceSum", "ReduceSumSquare",
        "Relu",     "Reshape",    "Slice",     "Split",
        "Sqrt",     "Squeeze",    "Transpose", "Unsqueeze"};
    return operators.contains(op_type);
  }

  std::unordered_set<int> layers_;
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
  const LoggedLayers logged(graph, nodes);
  FewChannels few(graph, placement, nodes);
  for (int index = 0; index < graph.node_count(); ++index) {
    std::string reason = logged.reason(index);
    if (reason.empty()) reason = few.reason(index);
    if (!reason.empty() && !is_asked_for(graph.node(index)))
      nodes[static_cast<std::size_t>(index)] = {&float_layer_rule(), std::move(reason)};
    few.look_forth(index);
  }
}

}  // namespace qtool
