#include "quantize/concat_scales.h"

#include <iterator>
#include <map>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/graph_view.h"
#include "model/normalize.h"
#include "model/tensor_walk.h"

namespace qtool {
namespace {

/// A Concat between DequantizeLinears and QuantizeLinears. Holds copies: the graph changes.
struct FusedConcat {
  int node = -1;
  std::vector<onnx::NodeProto> dequantizers;  ///< one for each input
  std::vector<int> quantizers;
};

/// Those of one graph, and the scales around them.
struct GraphConcats {
  onnx::GraphProto* graph = nullptr;
  std::vector<FusedConcat> concats;
  std::map<std::string, float> scales;
};

class ConcatScales {
 public:
  explicit ConcatScales(Model& model) : model_(model), names_(model.graph()) {}

  /// Looks at all graphs before it changes one: the view of a graph points into its bodies.
  void run() {
    look_into(model_.graph(), nullptr);
    for (GraphConcats& found : found_)
      convert(*found.graph, std::move(found.concats), found.scales);
  }

 private:
  /// Inner graphs come first.
  void look_into(onnx::GraphProto& graph, const GraphView* outer) {
    const GraphView view(graph, outer);
    for (auto& node : *graph.mutable_node()) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) look_into(*attribute.mutable_g(), &view);
        for (auto& body : *attribute.mutable_graphs()) look_into(body, &view);
      }
    }
    GraphConcats found{.graph = &graph, .concats = {}, .scales = {}};
    for (int i = 0; i < graph.node_size(); ++i) look_at(view, i, found);
    if (!found.concats.empty()) found_.push_back(std::move(found));
  }

  /// Notes the Concat where every input comes from a DequantizeLinear and the output goes to
  /// QuantizeLinears alone, all with float16 scales.
  void look_at(const GraphView& view, int index, GraphConcats& found) const {
    const auto& node = view.node(index);
    if (node.op_type() != "Concat" || !is_default_domain(node.domain())) return;
    const std::string& output = node.output(0);
    const auto uses = view.uses_of(output);
    if (uses.empty() || view.is_graph_output(output) || view.is_captured(output)) return;
    FusedConcat concat{.node = index, .dequantizers = {}, .quantizers = {}};
    std::vector<std::string> read;
    const auto has_scale = [&](const onnx::NodeProto& each, const char* op_type) {
      if (each.op_type() != op_type) return false;
      const auto* scale = view.initializer(each.input(1));
      if (!scale || element_type(*scale) != ElementType::Float16 || element_count(*scale) != 1)
        return false;
      read.push_back(each.input(1));
      return true;
    };
    for (const Use& use : uses) {
      if (use.slot != 0 || !has_scale(view.node(use.node), "QuantizeLinear")) return;
      concat.quantizers.push_back(use.node);
    }
    for (const std::string& input : node.input()) {
      const int maker = view.producer_of(input);
      if (maker < 0 || !has_scale(view.node(maker), "DequantizeLinear")) return;
      concat.dequantizers.push_back(view.node(maker));
    }
    for (const std::string& name : read) {
      // With preset `onnxruntime` it is stored as that stores it.
      onnx::TensorProto scale = *view.initializer(name);
      normalize_tensor(scale, {}, name);
      found.scales[name] = to_float32(model_.tensor(scale)).front();
    }
    found.concats.push_back(std::move(concat));
  }

  void convert(onnx::GraphProto& graph, std::vector<FusedConcat> concats,
               const std::map<std::string, float>& scales) {
    std::map<std::string, std::string> wide;
    for (const auto& [name, value] : scales) {
      wide[name] = names_.unique(name + "_float32");
      *graph.add_initializer() =
          make_float_tensor(wide[name], ElementType::Float, {}, std::span(&value, 1));
    }
    std::vector<onnx::NodeProto> nodes(std::make_move_iterator(graph.mutable_node()->begin()),
                                       std::make_move_iterator(graph.mutable_node()->end()));
    std::unordered_map<int, std::vector<onnx::NodeProto>> added;
    std::unordered_set<std::string> outputs;
    for (FusedConcat& concat : concats) {
      auto& node = nodes[static_cast<std::size_t>(concat.node)];
      outputs.insert(node.output(0));
      for (const int quantizer : concat.quantizers) {
        auto& reader = nodes[static_cast<std::size_t>(quantizer)];
        reader.set_input(1, wide.at(reader.input(1)));
      }
      for (int slot = 0; slot < node.input_size(); ++slot) {
        auto& dequantizer = concat.dequantizers[static_cast<std::size_t>(slot)];
        dequantizer.set_input(1, wide.at(dequantizer.input(1)));
        dequantizer.set_name(names_.unique(dequantizer.name() + "_float32"));
        dequantizer.set_output(0, names_.unique(node.input(slot) + "_float32"));
        node.set_input(slot, dequantizer.output(0));
      }
      added[concat.node] = std::move(concat.dequantizers);
    }
    put_back(graph, std::move(nodes), std::move(added));
    for (auto& value : *graph.mutable_value_info()) {
      if (outputs.contains(value.name()))
        value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    }
  }

  /// The nodes with the added ones in front of theirs, and without DequantizeLinears that only such
  /// a Concat read.
  static void put_back(onnx::GraphProto& graph, std::vector<onnx::NodeProto> nodes,
                       std::unordered_map<int, std::vector<onnx::NodeProto>> added) {
    graph.clear_node();
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
      if (const auto found = added.find(i); found != added.end()) {
        for (auto& node : found->second) *graph.add_node() = std::move(node);
      }
      *graph.add_node() = std::move(nodes[static_cast<std::size_t>(i)]);
    }
    std::vector<bool> is_unread;
    {
      const GraphView view(graph);
      for (const auto& node : graph.node()) {
        is_unread.push_back(node.op_type() == "DequantizeLinear" && !view.is_read(node.output(0)));
      }
    }
    int kept = 0;
    for (int i = 0; i < graph.node_size(); ++i) {
      if (!is_unread[static_cast<std::size_t>(i)]) graph.mutable_node()->SwapElements(kept++, i);
    }
    graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
  }

  Model& model_;
  NameAllocator names_;
  std::vector<GraphConcats> found_;
};

}  // namespace

void give_concats_float32_scales(Model& model) { ConcatScales(model).run(); }

}  // namespace qtool
