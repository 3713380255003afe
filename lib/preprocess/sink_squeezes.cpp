#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "preprocess/layer.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

using Integers = std::vector<std::int64_t>;

/// Operators that do the same to every element of their first input.
constexpr std::string_view kUnary[] = {
    "Abs",  "Clip", "Elu",  "Erf",     "Exp",  "Gelu",     "HardSigmoid", "HardSwish", "LeakyRelu",
    "Mish", "Neg",  "Relu", "Sigmoid", "Sqrt", "Softplus", "Softsign",    "Swish",     "Tanh"};
/// Those that do so with two inputs, of which one may be spread.
constexpr std::string_view kBinary[] = {"Add", "Div", "Mul", "Pow", "Sub"};

/// The axes of size 1 that a Squeeze takes away or an Unsqueeze adds.
struct Axes {
  Integers axes;          ///< from the front, sorted
  std::int64_t rank = 0;  ///< of the value that has them

  bool has(std::int64_t axis) const { return std::ranges::find(axes, axis) != axes.end(); }
};

/// Where `plain` is the value without the axes. The rank of the other one may be unknown yet.
std::optional<Axes> axes_at(const GraphEditor& graph, int index, const std::string& plain) {
  const auto axes = unit_axes(graph, index, plain);
  if (!axes) return std::nullopt;
  return Axes{*axes, static_cast<std::int64_t>(graph.shape(plain)->size() + axes->size())};
}

bool is_one_of(const GraphEditor& graph, int index, std::span<const std::string_view> op_types) {
  return std::ranges::any_of(op_types, [&](auto op_type) { return graph.is(index, op_type); });
}

/// Whether the node does the same to each element that it reads at `use`, whatever axes there are:
/// with constants at most.
bool is_elementwise(const GraphEditor& graph, const Use& use) {
  const auto& node = graph.node(use.node);
  if (node.output_size() != 1) return false;
  if (is_one_of(graph, use.node, kUnary)) return use.slot == 0;
  return is_one_of(graph, use.node, kBinary) && node.input_size() == 2 &&
         graph.constant(node.input(1 - use.slot)) && !find_attribute(node, "axis");
}

/// The reader of a squeezed value that may read it before it is squeezed.
std::optional<Use> elementwise_reader(const GraphEditor& graph, const std::string& value) {
  const auto use = graph.sole_use(value);
  return use && is_elementwise(graph, *use) ? use : std::nullopt;
}

/// Whether behind nothing but such readers an Unsqueeze adds the axes again.
bool comes_back(const GraphEditor& graph, std::string value, const Axes& axes) {
  while (const auto use = elementwise_reader(graph, value)) value = graph.node(use->node).output(0);
  const auto use = graph.sole_use(value);
  if (!use || !graph.is(use->node, "Unsqueeze") || use->slot != 0) return false;
  const auto added = axes_at(graph, use->node, value);
  return added && added->rank == axes.rank && added->axes == axes.axes;
}

/// The channels of `layer`'s output as they are without the axes.
std::optional<Channels> without(const Axes& axes, const Channels& channels) {
  const std::int64_t channel_axis = axes.rank - 1 - channels.axes_behind;
  if (axes.has(channel_axis)) return std::nullopt;
  const auto behind =
      std::ranges::count_if(axes.axes, [&](std::int64_t axis) { return axis > channel_axis; });
  return Channels{channels.count, static_cast<int>(axes.rank) - static_cast<int>(axes.axes.size()),
                  channels.axes_behind - static_cast<int>(behind)};
}

/// Whether the layer before the Squeeze could take up what the reader does.
bool could_fold(const GraphEditor& graph, int squeeze, const Use& reader, const Axes& axes) {
  const std::string& source = graph.node(squeeze).input(0);
  if (graph.use_count(source) != 1) return false;
  const auto layer = layer_at(graph, graph.producer(source));
  if (!layer || !layer->has_bias_input()) return false;
  const auto& inputs = graph.node(layer->node);
  const std::string bias = inputs.input_size() > 2 ? inputs.input(2) : std::string();
  const auto channels = without(axes, layer->outputs);
  return channels && bias_of(graph, *layer, bias, layer->beta) &&
         affine_of(graph, reader.node, reader.slot, *channels);
}

/// Spreads the constant over the value that has the axes as it was over the one without.
void unsqueeze_constant(GraphEditor& graph, int index, int slot, const Axes& axes) {
  onnx::TensorProto tensor = *graph.constant(graph.node(index).input(slot));
  Integers shape;
  int left = tensor.dims_size();
  for (std::int64_t axis = axes.rank - 1; left > 0; --axis)
    shape.push_back(axes.has(axis) ? 1 : tensor.dims(--left));
  std::ranges::reverse(shape);
  if (shape.size() == static_cast<std::size_t>(tensor.dims_size())) return;
  tensor.clear_dims();
  for (const std::int64_t size : shape) tensor.add_dims(size);
  graph.set_constant(index, slot, std::move(tensor), "unsqueezed");
}

/// Lets `reader` read what the Squeeze reads, and a Squeeze behind it make what it made.
void sink(GraphEditor& graph, int squeeze, const Use& reader, const Axes& axes) {
  if (is_one_of(graph, reader.node, kBinary))
    unsqueeze_constant(graph, reader.node, 1 - reader.slot, axes);
  const onnx::NodeProto before = graph.node(squeeze);
  const std::string result = graph.node(reader.node).output(0);
  graph.set_input(reader.node, reader.slot, before.input(0));
  std::vector<std::string> inputs(before.input().begin(), before.input().end());
  inputs[0] = result;
  const int behind = graph.add_node(reader.node + 1, "Squeeze", inputs, result + "_unsqueezed");
  const std::string unsqueezed = graph.node(behind).output(0);
  *graph.edit(behind).mutable_attribute() = before.attribute();
  graph.take_output(behind, 0, result);
  graph.take_output(reader.node, 0, unsqueezed);
  graph.set_input(behind, 0, unsqueezed);
  graph.remove(squeeze);
}

void visit(GraphEditor& graph, int index) {
  if (!graph.is(index, "Squeeze")) return;
  const std::string value = graph.node(index).output(0);
  const auto axes = axes_at(graph, index, value);
  if (!axes) return;
  const auto reader = elementwise_reader(graph, value);
  if (!reader) return;
  const auto* constant = is_one_of(graph, reader->node, kBinary)
                             ? graph.constant(graph.node(reader->node).input(1 - reader->slot))
                             : nullptr;
  // More axes than the value has would stand in front of those that it gets.
  const auto plain_rank = axes->rank - static_cast<std::int64_t>(axes->axes.size());
  if (constant && constant->dims_size() > plain_rank) return;
  if (could_fold(graph, index, *reader, *axes) || comes_back(graph, value, *axes))
    sink(graph, index, *reader, *axes);
}

}  // namespace

bool sink_squeezes(Model& model) {
  return edit_graphs(model, {"Squeeze"}, [](GraphEditor& graph) {
    // Those that are added are looked at too.
    for (int i = 0; i < graph.node_count(); ++i) visit(graph, i);
  });
}

}  // namespace qtool
