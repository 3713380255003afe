#include "inspect/cost_forecast.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "inspect/body_rounds.h"
#include "inspect/cost_table.h"
#include "model/graph_view.h"
#include "model/model.h"

namespace qtool {
namespace {

using Shape = std::vector<std::int64_t>;

/// Channels that integer depthwise kernels work on at once.
constexpr std::int64_t kVectorChannels = 16;

/// The number of values of a shape; nothing where a size is not known.
std::optional<double> count_of(const std::optional<Shape>& shape) {
  if (!shape) return std::nullopt;
  double count = 1;
  for (const std::int64_t size : *shape) {
    if (size < 0) return std::nullopt;
    count *= static_cast<double>(size);
  }
  return count;
}

bool has_bodies(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), &onnx::AttributeProto::has_g);
}

/// What a plan does with the nodes and values of one graph.
struct Decisions {
  std::unordered_set<int> integer, gone;
  std::unordered_set<std::string_view> quantized;  ///< values with integers of their own
};

Decisions decisions_of(const GraphView& graph, const QuantPlan& plan) {
  Decisions out;
  out.gone.insert(plan.absorbed.begin(), plan.absorbed.end());
  for (const FoldedNode& folded : plan.folded) out.gone.insert(folded.node);
  for (const int node : plan.quantized_nodes) {
    const std::string& type = graph.node(node).op_type();
    // A draft does not know yet that ranges let quantizers clamp; they mostly do.
    (type == "Relu" || type == "Clip" ? out.gone : out.integer).insert(node);
  }
  for (const TensorPlan& tensor : plan.tensors) {
    if (tensor.role == TensorPlan::Role::Activation && tensor.source < 0)
      out.quantized.insert(tensor.name);
  }
  return out;
}

/// What nodes cost, and of how many that is known.
struct Cost {
  double us = 0;
  std::size_t nodes = 0, unknown_nodes = 0;
};

/// Costs of one graph, without the bodies in it.
class GraphCost {
 public:
  GraphCost(const GraphView& graph, const Decisions& decisions)
      : graph_(graph), decisions_(decisions) {}

  Cost run() {
    Cost sum{.nodes = static_cast<std::size_t>(graph_.node_count())};
    for (int index = 0; index < graph_.node_count(); ++index) {
      if (!decisions_.gone.contains(index)) sum.us += node_cost(index);
    }
    for (const std::string_view value : decisions_.quantized) sum.us += borders(std::string(value));
    sum.unknown_nodes = unknown_;
    return sum;
  }

 private:
  bool is_integer(int index) const { return decisions_.integer.contains(index); }
  std::optional<double> count(const std::string& value) const {
    return count_of(graph_.shape_of(value));
  }
  int sole_reader(const std::string& value) const {
    const auto uses = graph_.uses_of(value);
    return uses.size() == 1 && !graph_.is_graph_output(value) ? uses.front().node : -1;
  }

  std::optional<LayerWork> layer_work(const onnx::NodeProto& node) const;
  double node_cost(int index);
  double layer_cost(int index, const LayerWork& work) const;
  bool is_part_of_conv(int index) const;
  bool is_blocked(int index) const;
  double reordering(int index) const;
  double borders(const std::string& value) const;
  bool keeps_channels_first(int index) const;
  double recurrent_cost(const onnx::NodeProto& node) const;

  const GraphView& graph_;
  const Decisions& decisions_;
  std::size_t unknown_ = 0;
};

/// Multiplications of a layer, and what their speed hangs on.
std::optional<LayerWork> GraphCost::layer_work(const onnx::NodeProto& node) const {
  if (node.input_size() < 2 || node.output_size() == 0) return std::nullopt;
  const std::string& type = node.op_type();
  const auto weight = graph_.shape_of(node.input(1));
  const auto outputs = count(node.output(0)), inputs = count(node.input(0));
  const bool is_transposed = type == "ConvTranspose";
  if (!weight || weight->size() < 2 || !outputs || !inputs) return std::nullopt;
  if (type == "Conv" || is_transposed) {
    double kernel = 1;
    for (std::size_t i = 2; i < weight->size(); ++i) kernel *= static_cast<double>((*weight)[i]);
    const std::int64_t groups = int_attribute(node, "group", 1);
    const bool is_depthwise = groups > 1 && (*weight)[1] == 1;
    const bool is_even = groups % kVectorChannels == 0;
    const LayerKind kind = is_transposed             ? LayerKind::ConvTranspose
                           : weight->size() != 4     ? LayerKind::Conv1D
                           : is_depthwise && is_even ? LayerKind::Depthwise
                           : is_depthwise            ? LayerKind::UnevenDepthwise
                           : kernel == 1             ? LayerKind::Pointwise
                                                     : LayerKind::Conv;
    const double per_value = kernel * static_cast<double>((*weight)[1]);
    return LayerWork{kind, static_cast<double>((*weight)[1]),
                     (is_transposed ? *inputs : *outputs) * per_value};
  }
  if (type != "MatMul" && type != "Gemm") return std::nullopt;
  const bool is_turned = int_attribute(node, "transB", 0) != 0;
  const auto columns = static_cast<double>(is_turned ? (*weight)[0] : weight->back());
  return LayerWork{LayerKind::Product, columns, *inputs * columns};
}

/// ONNX Runtime makes one kernel of a Conv and what only scales, shifts or activates its output.
bool GraphCost::is_part_of_conv(int index) const {
  const auto& node = graph_.node(index);
  constexpr std::string_view kActivations[] = {
      "BatchNormalization", "Clip", "HardSigmoid", "LeakyRelu", "Relu", "Sigmoid", "Tanh"};
  const std::string& type = node.op_type();
  const bool is_affine = (type == "Add" || type == "Mul") && node.input_size() == 2;
  if (!is_affine && std::ranges::find(kActivations, type) == std::end(kActivations)) return false;
  for (int slot = 0; slot < (is_affine ? 2 : 1); ++slot) {
    const int producer = graph_.producer_of(node.input(slot));
    if (producer < 0 || is_integer(producer) || sole_reader(node.input(slot)) != index) continue;
    const bool is_conv = graph_.node(producer).op_type() == "Conv" || is_part_of_conv(producer);
    // Of two computed values the Conv adds one to its sums.
    if (is_conv && (!is_affine || type == "Add" || graph_.initializer(node.input(1 - slot))))
      return true;
  }
  return false;
}

/// Whether a float operator works on channels in blocks, as Conv does.
bool GraphCost::is_blocked(int index) const {
  constexpr std::string_view kBlocked[] = {
      "Add", "AveragePool", "Concat", "Conv", "GlobalAveragePool", "MaxPool", "Relu", "Resize"};
  return index >= 0 && !is_integer(index) &&
         (std::ranges::find(kBlocked, graph_.node(index).op_type()) != std::end(kBlocked) ||
          is_part_of_conv(index));
}

/// Between such and other operators values are put into another order.
double GraphCost::reordering(int index) const {
  const auto& node = graph_.node(index);
  double cost = 0;
  const auto inputs = count(node.input(0)), outputs = count(node.output(0));
  const auto weight = graph_.shape_of(node.input(1));
  const bool has_blocks = weight && weight->size() == 4 && (*weight)[0] % 8 == 0;
  if (!has_blocks) return 0;
  if ((*weight)[1] > 3 && !is_blocked(graph_.producer_of(node.input(0))) && inputs)
    cost += kNodeUs + *inputs * kReorderInputNs / 1e3;
  const auto uses = graph_.uses_of(node.output(0));
  const auto leaves_blocks = [&](const Use& use) { return !is_blocked(use.node); };
  if (outputs && (uses.empty() || std::ranges::any_of(uses, leaves_blocks)))
    cost += kNodeUs + *outputs * kReorderOutputNs / 1e3;
  return cost;
}

double GraphCost::layer_cost(int index, const LayerWork& work) const {
  if (is_integer(index)) return integer_layer_us(work);
  const bool is_image = work.kind == LayerKind::Conv || work.kind == LayerKind::Pointwise ||
                        work.kind == LayerKind::Depthwise ||
                        work.kind == LayerKind::UnevenDepthwise;
  return float_layer_us(work) + (is_image ? reordering(index) : 0);
}

double GraphCost::recurrent_cost(const onnx::NodeProto& node) const {
  const auto weight = count(node.input(1)), recurrence = count(node.input(2));
  const auto inputs = graph_.shape_of(node.input(0));
  if (!weight || !recurrence || !inputs || inputs->size() != 3 || (*inputs)[0] < 0) return kNodeUs;
  const double rows = static_cast<double>((*inputs)[0] * std::max<std::int64_t>(1, (*inputs)[1]));
  return kNodeUs + rows * (*weight + *recurrence) / kRecurrentMacsPerUs;
}

/// Whether a MaxPool on integers works on channels one by one: those before and behind a Conv are
/// brought to its order.
bool GraphCost::keeps_channels_first(int index) const {
  const auto& node = graph_.node(index);
  if (node.op_type() != "MaxPool") return false;
  constexpr std::string_view kTurning[] = {"Add", "Concat", "Conv", "MaxPool"};
  return std::ranges::none_of(graph_.uses_of(node.output(0)), [&](const Use& use) {
    return std::ranges::find(kTurning, graph_.node(use.node).op_type()) != std::end(kTurning);
  });
}

double GraphCost::node_cost(int index) {
  const auto& node = graph_.node(index);
  const std::string& type = node.op_type();
  if (node.output_size() == 0 || node.output(0).empty() || type == "Constant") return 0;
  // Bodies make its values, and count themselves.
  if (has_bodies(node)) return kNodeUs;
  if ((type == "LSTM" || type == "GRU" || type == "RNN") && node.input_size() > 2)
    return recurrent_cost(node);
  if (const auto work = layer_work(node)) return layer_cost(index, *work);
  if (!is_integer(index) && is_part_of_conv(index)) return 0;
  auto values = count(node.output(0));
  const ElementType element = graph_.type_of(node.output(0));
  const bool is_real = element == ElementType::Float || element == ElementType::Undefined;
  if (!values) {
    ++unknown_;
    return kNodeUs;
  }
  if (type == "GlobalAveragePool" || type.starts_with("Reduce"))
    values = count(node.input(0)).value_or(*values);
  if (!is_real) return kNodeUs;
  const bool is_in_integers = is_integer(index);
  const double pace = is_in_integers && keeps_channels_first(index)
                          ? kChannelsFirstMaxPoolNs
                          : per_value_ns(type, is_in_integers);
  const double call = is_in_integers && pace > 0 ? kIntegerCallUs : 0;
  return kNodeUs + call + *values * pace / 1e3;
}

/// A quantizer where floats are made, a dequantizer where they are read; each changes the layout of
/// an image.
double GraphCost::borders(const std::string& value) const {
  const auto values = count(value);
  if (!values) return kNodeUs;
  const int producer = graph_.producer_of(value);
  const auto is_of_integers = [&](int node) {
    return is_integer(node) || decisions_.gone.contains(node);
  };
  const auto shape = graph_.shape_of(value);
  const double turning = shape->size() == 4 ? kTransposeIntegersNs : 0;
  double cost = 0;
  if (producer < 0 || !is_of_integers(producer))
    cost += kNodeUs + *values * (kQuantizeNs + turning) / 1e3;
  const auto uses = graph_.uses_of(value);
  const bool is_made_in_integers = producer >= 0 && is_of_integers(producer);
  const bool is_read_as_floats =
      graph_.is_graph_output(value) ||
      std::ranges::any_of(uses, [&](const Use& use) { return !is_of_integers(use.node); });
  if (is_made_in_integers && is_read_as_floats)
    cost += kNodeUs + *values * (kDequantizeNs + turning) / 1e3;
  return cost;
}

Cost cost_of(const onnx::GraphProto& graph, const QuantPlan& plan,
             const GraphView* outer = nullptr);

/// Of the branches of an If, where either may run, the dearest.
Cost cost_of_bodies(const GraphView& graph, int index, const QuantPlan& plan) {
  const auto& node = graph.node(index);
  Cost dearest;
  for (int attribute = 0; attribute < node.attribute_size(); ++attribute) {
    const auto& holder = node.attribute(attribute);
    const double rounds = holder.has_g() ? rounds_of(graph, node, holder.name()) : 0;
    if (rounds == 0) continue;
    const auto found = std::ranges::find_if(plan.bodies, [&](const BodyPlan& body) {
      return body.node == index && body.attribute == attribute;
    });
    Cost cost = cost_of(holder.g(), found == plan.bodies.end() ? QuantPlan() : found->plan, &graph);
    cost.us *= rounds;
    if (dearest.nodes == 0 || cost.us > dearest.us) dearest = cost;
  }
  return dearest;
}

Cost cost_of(const onnx::GraphProto& graph, const QuantPlan& plan, const GraphView* outer) {
  const GraphView view(graph, outer);
  const Decisions decisions = decisions_of(view, plan);
  Cost sum = GraphCost(view, decisions).run();
  for (int index = 0; index < view.node_count(); ++index) {
    const Cost bodies = cost_of_bodies(view, index, plan);
    sum.us += bodies.us;
    sum.nodes += bodies.nodes;
    sum.unknown_nodes += bodies.unknown_nodes;
  }
  return sum;
}

}  // namespace

CostForecast forecast_cost(const Model& original, const Model& prepared, const QuantPlan& plan) {
  const Cost of_floats = cost_of(original.graph(), {}), quantized = cost_of(prepared.graph(), plan);
  return {.float_us = kRunUs + of_floats.us,
          .quantized_us = kRunUs + quantized.us,
          .nodes = quantized.nodes,
          .unknown_nodes = std::max(of_floats.unknown_nodes, quantized.unknown_nodes)};
}

}  // namespace qtool
