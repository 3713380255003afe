#include "quantize/onnxruntime/gemm_decomposition.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "config/node_selector.h"
#include "model/graph_view.h"

namespace qtool {
namespace {

std::vector<std::string> node_names(const onnx::GraphProto& graph) {
  std::vector<std::string> names;
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    for (const auto& node : each.node()) names.push_back(node.name());
  });
  return names;
}

bool is_plain_product(const onnx::NodeProto& node) {
  return node.op_type() == "Gemm" && is_default_domain(node.domain()) && node.input_size() >= 2 &&
         float_attribute(node, "alpha", 1) == 1 && float_attribute(node, "beta", 1) == 1 &&
         int_attribute(node, "transA", 0) == 0;
}

std::vector<std::byte> transposed(std::span<const std::byte> in, std::size_t rows,
                                  std::size_t columns, std::size_t element_bytes) {
  std::vector<std::byte> out(in.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::memcpy(out.data() + (column * rows + row) * element_bytes,
                  in.data() + (row * columns + column) * element_bytes, element_bytes);
    }
  }
  return out;
}

class Decomposer {
 public:
  Decomposer(Model& model, const QuantizationConfig& config)
      : model_(model),
        excluded_(config.nodes_to_exclude, node_names(model.graph())),
        names_(model.graph()) {}

  GemmDecomposition run() {
    rewrite(model_.graph());
    return std::move(out_);
  }

 private:
  void rewrite(onnx::GraphProto& graph);
  void replace(const onnx::NodeProto& gemm, std::vector<onnx::NodeProto>& nodes);
  std::string transposed_weight(const onnx::NodeProto& gemm, std::vector<onnx::NodeProto>& nodes);
  const onnx::TensorProto* initializer(const std::string& name) const;
  std::string name_for_transposed(const std::string& weight);

  Model& model_;
  NodeSelector excluded_;
  NameAllocator names_;
  std::vector<onnx::GraphProto*> graphs_;
  std::vector<std::map<std::string, std::string>> transposed_;  ///< of each open graph
  GemmDecomposition out_;
};

void Decomposer::rewrite(onnx::GraphProto& graph) {
  graphs_.push_back(&graph);
  transposed_.emplace_back();
  std::vector<onnx::NodeProto> nodes;
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) rewrite(*attribute.mutable_g());
      for (auto& each : *attribute.mutable_graphs()) rewrite(each);
    }
    if (is_plain_product(node) && !(!node.name().empty() && excluded_.contains(node.name()))) {
      replace(node, nodes);
    } else {
      nodes.push_back(std::move(node));
    }
  }
  graph.clear_node();
  for (auto& node : nodes) *graph.add_node() = std::move(node);
  transposed_.pop_back();
  graphs_.pop_back();
}

onnx::NodeProto node_of(const char* op_type, const std::string& gemm, const char* suffix,
                        std::initializer_list<std::string> inputs, const std::string& output) {
  onnx::NodeProto node;
  node.set_op_type(op_type);
  if (!gemm.empty()) node.set_name(gemm + suffix);
  for (const auto& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void Decomposer::replace(const onnx::NodeProto& gemm, std::vector<onnx::NodeProto>& nodes) {
  const bool is_transposed = int_attribute(gemm, "transB", 0) == 1;
  const std::string weight = is_transposed ? transposed_weight(gemm, nodes) : gemm.input(1);
  const bool has_bias = gemm.input_size() > 2 && !gemm.input(2).empty();
  const std::string product = gemm.output(0) + (has_bias ? "_MatMul" : "");
  nodes.push_back(node_of("MatMul", gemm.name(), "_MatMul", {gemm.input(0), weight}, product));
  out_.node_of[product] = gemm.name();
  if (has_bias)
    nodes.push_back(node_of("Add", gemm.name(), "_Add", {product, gemm.input(2)}, gemm.output(0)));
}

/// The second factor with its axes swapped, for all Gemms of this graph that read it: a new
/// initializer where it is constant.
std::string Decomposer::transposed_weight(const onnx::NodeProto& gemm,
                                          std::vector<onnx::NodeProto>& nodes) {
  const std::string& name = gemm.input(1);
  auto& known = transposed_.back();
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const onnx::TensorProto* weight = initializer(name);
  if (weight == nullptr) {
    const std::string output = names_.unique(name + "_Transposed");
    nodes.push_back(node_of("Transpose", gemm.name(), "_Transpose", {name}, output));
    return known[name] = output;
  }
  const std::string stored = name_for_transposed(name);
  const std::vector<std::int64_t> shape{weight->dims(1), weight->dims(0)};
  const auto rows = static_cast<std::size_t>(weight->dims(0));
  const auto columns = static_cast<std::size_t>(weight->dims(1));
  const auto bytes = transposed(model_.tensor_bytes(*weight), rows, columns,
                                element_bits(element_type(*weight)) / 8);
  *graphs_.back()->add_initializer() = make_tensor(stored, element_type(*weight), shape, bytes);
  known[name] = stored;
  out_.source_of[stored] = name;
  return stored;
}

const onnx::TensorProto* Decomposer::initializer(const std::string& name) const {
  for (auto graph = graphs_.rbegin(); graph != graphs_.rend(); ++graph) {
    for (const auto& tensor : (*graph)->initializer())
      if (tensor.name() == name) return tensor.dims_size() == 2 ? &tensor : nullptr;
  }
  return nullptr;
}

/// A name such that those of its quantized form are free too.
std::string Decomposer::name_for_transposed(const std::string& weight) {
  constexpr std::array<const char*, 4> kSuffixes{"", "_quantized", "_scale", "_zero_point"};
  std::string stem = weight + "_Transposed";
  for (int i = 1;; ++i) {
    const bool is_free = std::ranges::none_of(
        kSuffixes, [&](const char* suffix) { return names_.is_taken(stem + suffix); });
    if (is_free) break;
    stem = weight + "_Transposed_" + std::to_string(i);
  }
  names_.unique(stem);
  return stem;
}

}  // namespace

GemmDecomposition decompose_gemm(Model& model, const QuantizationConfig& config) {
  return Decomposer(model, config).run();
}

}  // namespace qtool
