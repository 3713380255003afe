#include "runtime/tap_graph.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "model/attributes.h"
#include "model/graph_view.h"
#include "runtime/observer_op.h"

namespace qtool {
namespace {

/// Calls `visit` with every graph inside of `node`.
template <typename Visit>
void for_each_body(const onnx::NodeProto& node, const Visit& visit) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_g()) for_each_graph(attribute.g(), visit);
    for (const auto& graph : attribute.graphs()) for_each_graph(graph, visit);
  }
}

/// Calls `visit` with every name that `node` and its subgraphs read; names of a subgraph's own
/// values are among them.
template <typename Visit>
void for_each_read(const onnx::NodeProto& node, const Visit& visit) {
  std::ranges::for_each(node.input(), visit);
  for_each_body(node, [&](const onnx::GraphProto& graph) {
    for (const auto& inner : graph.node()) std::ranges::for_each(inner.input(), visit);
    for (const auto& output : graph.output()) visit(output.name());
  });
}

bool is_value(const GraphView& view, std::string_view name) {
  return view.producer_of(name) >= 0 || view.is_graph_input(name) ||
         view.initializer(name) != nullptr;
}

/// Takes the names that a body of `node` has as values out of `wanted`; whether there were any.
bool take_values_of_bodies(const onnx::NodeProto& node,
                           std::unordered_set<std::string_view>& wanted) {
  bool found = false;
  for_each_body(node, [&](const onnx::GraphProto& body) {
    const GraphView view(body);
    const auto is_here = [&](std::string_view name) { return is_value(view, name); };
    found = std::erase_if(wanted, is_here) > 0 || found;
  });
  return found;
}

/// The nodes whose bodies have the values that `graph` itself does not have.
std::vector<int> owners_of(const onnx::GraphProto& graph, const GraphView& view,
                           std::span<const std::string> wanted) {
  std::unordered_set<std::string_view> missing(wanted.begin(), wanted.end());
  std::erase_if(missing, [&](std::string_view name) { return is_value(view, name); });
  std::vector<int> out;
  for (int node = 0; node < graph.node_size() && !missing.empty(); ++node) {
    // Branches may share a name: all of a node's bodies are looked at before it is found.
    if (take_values_of_bodies(graph.node(node), missing)) out.push_back(node);
  }
  if (missing.empty()) return out;
  throw Error(ErrorKind::Internal,
              "tap '" + printable(*missing.begin()) + "': is not a value of the graph");
}

/// Places of those `taps` that `graph` itself has, sorted by the node that makes each, the last
/// first.
std::vector<std::size_t> latest_first(const GraphView& view, std::span<const std::string> taps) {
  std::vector<std::size_t> out;
  for (std::size_t tap = 0; tap < taps.size(); ++tap) {
    if (is_value(view, taps[tap])) out.push_back(tap);
  }
  std::ranges::stable_sort(out, std::greater{},
                           [&](std::size_t tap) { return view.producer_of(taps[tap]); });
  return out;
}

void add_observer(onnx::GraphProto& graph, std::size_t tap, const std::string& value,
                  ElementType type) {
  auto& node = *graph.add_node();
  node.set_domain(ObserverOp::kDomain);
  node.set_op_type(ObserverOp::name_for(type));
  node.add_input(value);
  set_int(node, ObserverOp::kTapAttribute, static_cast<std::int64_t>(tap));
}

void observe_values_of(onnx::GraphProto& to, const onnx::GraphProto& order,
                       std::span<const std::string> taps) {
  const GraphView view(order);
  // ONNX Runtime orders a run depth-first from the nodes that nobody reads, the last one of the
  // graph first. Observers in reverse therefore run forwards, each straight after its producer; the
  // other way round every value stays alive.
  for (const std::size_t tap : latest_first(view, taps))
    add_observer(to, tap, taps[tap], view.type_of(taps[tap]));
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
  GraphPart out;
  std::vector<bool> is_kept(static_cast<std::size_t>(view.node_count()));
  std::vector<std::string_view> open;
  const auto need = [&](const std::string& value) {
    if (out.values.insert(value).second) open.push_back(value);
  };
  const auto keep = [&](int node) {
    if (is_kept[static_cast<std::size_t>(node)]) return;
    is_kept[static_cast<std::size_t>(node)] = true;
    for_each_read(view.node(node), need);
  };
  std::ranges::for_each(wanted, need);
  std::ranges::for_each(owners_of(graph, view, wanted), keep);
  while (!open.empty()) {
    const int producer = view.producer_of(open.back());
    open.pop_back();
    if (producer >= 0) keep(producer);
  }
  for (int node = 0; node < view.node_count(); ++node) {
    if (is_kept[static_cast<std::size_t>(node)]) out.nodes.push_back(node);
  }
  return out;
}

void add_observers(onnx::GraphProto& to, const onnx::GraphProto& order,
                   std::span<const std::string> taps) {
  NameAllocator names(order);
  for_each_graph(to, [&](onnx::GraphProto& graph) {
    if (&graph != &to) observe_values_of(graph, onnx::GraphProto(graph), taps);
  });
  observe_values_of(to, order, taps);
  // A run must ask for an output, and a constant is the cheapest.
  add_constant_output(to, names.unique("qtool_done"));
}

}  // namespace qtool
