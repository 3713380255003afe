#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "preprocess/affine.h"
#include "preprocess/fusion.h"
#include "preprocess/layer.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// Nodes one behind the other, the last one read by a layer only, that change its input channel by
/// channel.
struct Chain {
  std::vector<int> nodes;  ///< from the layer backwards
  std::string source;      ///< what the first of them reads
  Affine affine;
};

int data_slot(const GraphEditor& graph, int index) {
  const auto& node = graph.node(index);
  return node.input_size() == 2 && graph.constant(node.input(0)) ? 1 : 0;
}

/// Whether the node's result has the shape of what it reads: a constant may widen that.
bool keeps_shape(const GraphEditor& graph, int index, int slot, const Channels& channels) {
  const auto& node = graph.node(index);
  if (node.op_type() == "BatchNormalization") return true;
  const auto* constant = graph.constant(node.input(1 - slot));
  // One value of few axes cannot give the data as many as the layer wants.
  if (element_count(*constant) == 1 && constant->dims_size() < channels.rank) return true;
  const auto shape = graph.shape(node.input(slot));
  return shape && static_cast<int>(shape->size()) == channels.rank &&
         (*shape)[static_cast<std::size_t>(channels.rank - 1 - channels.axes_behind)] ==
             channels.count;
}

Chain chain_before(const GraphEditor& graph, const Layer& layer,
                   const std::unordered_set<int>& kept) {
  const auto count = static_cast<std::size_t>(layer.inputs.count);
  Chain chain{{},
              graph.node(layer.node).input(0),
              {std::vector<double>(count, 1), std::vector<double>(count, 0)}};
  for (;;) {
    const int node = graph.producer(chain.source);
    if (node < 0 || kept.contains(node) || !graph.sole_use(chain.source) ||
        graph.node(node).output_size() != 1)
      return chain;
    const int slot = data_slot(graph, node);
    const auto affine = affine_of(graph, node, slot, layer.inputs);
    if (!affine || !keeps_shape(graph, node, slot, layer.inputs)) return chain;
    chain.nodes.push_back(node);
    chain.source = graph.node(node).input(slot);
    chain.affine = chain.affine.after(*affine);
  }
}

/// Whether the layer sees zeros around its input, which nothing is added to.
bool has_padding(const onnx::NodeProto& node) {
  const std::string automatic = string_attribute(node, "auto_pad", "NOTSET");
  if (automatic == "VALID") return false;
  if (automatic != "NOTSET") return true;
  const auto* pads = find_attribute(node, "pads");
  return pads && std::ranges::any_of(pads->ints(), [](auto pad) { return pad != 0; });
}

/// Whether an offset of the input is one of the output, the same everywhere.
bool takes_offset(const GraphEditor& graph, const Layer& layer) {
  if (layer.kind == Layer::Kind::Gemm) return true;
  return layer.kind == Layer::Kind::Conv && !has_padding(graph.node(layer.node));
}

/// What the offset of each input channel adds to each output channel.
std::vector<double> offset_behind(const GraphEditor& graph, const Layer& layer,
                                  const std::vector<double>& offset) {
  const auto weight = *graph.floats(graph.node(layer.node).input(1));
  std::vector<double> sum(static_cast<std::size_t>(layer.outputs.count), 0.0);
  for (std::size_t i = 0; i < weight.size(); ++i)
    sum[layer.output_of(i)] += weight[i] * offset[layer.input_of(i)] * layer.alpha;
  return sum;
}

bool fold_whole(GraphEditor& graph, const Layer& layer, const Chain& chain) {
  auto weight = weight_by_input(graph, layer, chain.affine.factor);
  if (!weight) return false;
  if (chain.affine.has_offset()) {
    const auto& node = graph.node(layer.node);
    const std::string bias_name = node.input_size() > 2 ? node.input(2) : std::string();
    auto bias = bias_of(graph, layer, bias_name, layer.beta);
    if (!bias) return false;
    const auto added = offset_behind(graph, layer, chain.affine.offset);
    for (std::size_t c = 0; c < bias->size(); ++c) (*bias)[c] += added[c];
    if (!set_weight_and_bias(graph, layer, std::move(*weight), *bias)) return false;
  } else {
    graph.set_constant(layer.node, 1, std::move(*weight), "weight");
  }
  graph.set_input(layer.node, 0, chain.source);
  for (const int node : chain.nodes) graph.remove(node);
  return true;
}

/// One value where all are the same, else one per channel, with the axes behind it.
std::optional<onnx::TensorProto> addend(const GraphEditor& graph, const Layer& layer,
                                        const std::vector<double>& values) {
  const ElementType type = graph.type(graph.node(layer.node).input(1));
  const bool is_same =
      std::ranges::all_of(values, [&](double value) { return value == values.front(); });
  if (is_same) return encoded(type, {}, {values.front()});
  std::vector<std::int64_t> shape(static_cast<std::size_t>(layer.inputs.axes_behind) + 1, 1);
  shape.front() = layer.inputs.count;
  return encoded(type, shape, values);
}

/// x * f + o is (x + o / f) * f: the factor goes into the layer, one Add stays.
bool fold_factor(GraphEditor& graph, const Layer& layer, const Chain& chain) {
  if (!chain.affine.has_factor()) return false;
  std::vector<double> offset = chain.affine.offset;
  for (std::size_t c = 0; c < offset.size(); ++c) offset[c] /= chain.affine.factor[c];
  auto weight = weight_by_input(graph, layer, chain.affine.factor);
  auto tensor = addend(graph, layer, offset);
  if (!weight || !tensor) return false;
  graph.set_constant(layer.node, 1, std::move(*weight), "weight");
  const int last = chain.nodes.front();
  for (const int node : chain.nodes) {
    if (node != last) graph.remove(node);
  }
  graph.become(last, "Add");
  graph.set_inputs(last, {chain.source});
  graph.set_input(last, 1,
                  graph.add_constant(graph.node(last).output(0) + "_offset", std::move(*tensor)));
  return true;
}

void fold_before(GraphEditor& graph, const Layer& layer, const std::unordered_set<int>& kept) {
  Chain chain = chain_before(graph, layer, kept);
  // A chain that only adds gains nothing by becoming shorter than one Add.
  if (chain.nodes.empty()) return;
  const bool is_whole = !chain.affine.has_offset() || takes_offset(graph, layer);
  if (is_whole) {
    fold_whole(graph, layer, chain);
  } else if (chain.nodes.size() > 1) {
    fold_factor(graph, layer, chain);
  }
}

}  // namespace

bool fold_affine_before(Model& model) {
  return edit_graphs(model, {"Conv", "ConvTranspose", "Gemm", "MatMul"}, [](GraphEditor& graph) {
    const auto kept = nodes_runtimes_fuse(graph);
    for (int i = 0; i < graph.node_count(); ++i) {
      if (const auto layer = layer_at(graph, i)) fold_before(graph, *layer, kept);
    }
  });
}

}  // namespace qtool
