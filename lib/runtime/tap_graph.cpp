#include "runtime/tap_graph.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "model/graph_view.h"
#include "runtime/observer_op.h"

namespace qtool {
namespace {

/// Calls `visit` with every name that `node` and its subgraphs read; names of a subgraph's own
/// values are among them.
template <typename Visit>
void for_each_read(const onnx::NodeProto& node, const Visit& visit) {
  for (const auto& input : node.input()) visit(input);
  const auto visit_body = [&](const onnx::GraphProto& body) {
    for_each_graph(body, [&](const onnx::GraphProto& graph) {
      for (const auto& inner : graph.node()) std::ranges::for_each(inner.input(), visit);
      for (const auto& output : graph.output()) visit(output.name());
    });
  };
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) visit_body(attribute.g());
    std::ranges::for_each(attribute.graphs(), visit_body);
  }
}

void check_exists(const GraphView& view, const std::string& value) {
  if (view.producer_of(value) >= 0 || view.is_graph_input(value) ||
      view.initializer(value) != nullptr)
    return;
  throw Error(ErrorKind::Internal, "tap '" + printable(value) + "': is not a value of the graph");
}

/// Places of `taps` sorted by the node that makes each, the last first.
std::vector<std::size_t> latest_first(const onnx::GraphProto& graph,
                                      std::span<const std::string> taps) {
  const GraphView view(graph);
  std::vector<std::size_t> out(taps.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  std::ranges::stable_sort(out, std::greater{},
                           [&](std::size_t tap) { return view.producer_of(taps[tap]); });
  return out;
}

void add_observer(onnx::GraphProto& graph, std::size_t tap, const std::string& value) {
  auto& node = *graph.add_node();
  node.set_domain(ObserverOp::kDomain);
  node.set_op_type(ObserverOp::kName);
  node.add_input(value);
  auto& attribute = *node.add_attribute();
  attribute.set_name(ObserverOp::kTapAttribute);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(static_cast<std::int64_t>(tap));
}

void add_constant_output(onnx::GraphProto& graph, const std::string& name) {
  auto& constant = *graph.add_initializer();
  constant.set_name(name);
  constant.set_data_type(onnx::TensorProto::INT32);
  constant.add_int32_data(0);
  auto& output = *graph.add_output();
  output.set_name(name);
  output.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT32);
  output.mutable_type()->mutable_tensor_type()->mutable_shape();
}

}  // namespace

GraphPart part_that_makes(const onnx::GraphProto& graph, std::span<const std::string> wanted) {
  const GraphView view(graph);
  for (const auto& value : wanted) check_exists(view, value);
  GraphPart out;
  std::vector<bool> is_kept(static_cast<std::size_t>(view.node_count()));
  std::vector<std::string_view> open;
  const auto need = [&](const std::string& value) {
    if (out.values.insert(value).second) open.push_back(value);
  };
  std::ranges::for_each(wanted, need);
  while (!open.empty()) {
    const int producer = view.producer_of(open.back());
    open.pop_back();
    if (producer < 0 || is_kept[static_cast<std::size_t>(producer)]) continue;
    is_kept[static_cast<std::size_t>(producer)] = true;
    for_each_read(view.node(producer), need);
  }
  for (int node = 0; node < view.node_count(); ++node) {
    if (is_kept[static_cast<std::size_t>(node)]) out.nodes.push_back(node);
  }
  return out;
}

void add_observers(onnx::GraphProto& to, const onnx::GraphProto& order,
                   std::span<const std::string> taps) {
  // ONNX Runtime orders a run depth-first from the nodes that nobody reads, the last one of the
  // graph first. Observers in reverse therefore run forwards, each straight after its producer; the
  // other way round every value stays alive.
  for (const std::size_t tap : latest_first(order, taps)) add_observer(to, tap, taps[tap]);
  // A run must ask for an output, and a constant is the cheapest.
  NameAllocator names(order);
  add_constant_output(to, names.unique("qtool_done"));
}

}  // namespace qtool
