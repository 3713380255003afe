#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/attributes.h"
#include "model/graph_view.h"
#include "model/tensor.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

/// How far back a convolution is looked for.
constexpr int kMaxDistance = 4;

/// Operators that integers go through. What they read from a convolution they give on.
bool keeps_integers(const std::string& op_type) {
  constexpr const char* kOps[] = {
      "Add",       "Mul",   "Concat",  "Sigmoid",           "MaxPool",
      "LeakyRelu", "Relu",  "Clip",    "GlobalAveragePool", "AveragePool",
      "Reshape",   "Slice", "Squeeze", "Unsqueeze",         "Transpose"};
  return std::ranges::find(kOps, op_type) != std::end(kOps);
}

/// Whether a convolution with constant weights leads to `value`.
bool is_behind_conv(const GraphView& graph, const std::string& value, int distance) {
  const int producer = distance > 0 ? graph.producer_of(value) : -1;
  if (producer < 0) return false;
  const auto& node = graph.node(producer);
  if (!is_default_domain(node.domain())) return false;
  if (node.op_type() == "Conv") return graph.initializer(node.input(1)) != nullptr;
  return keeps_integers(node.op_type()) && std::ranges::any_of(node.input(), [&](const auto& name) {
           return is_behind_conv(graph, name, distance - 1);
         });
}

/// Writes one graph anew.
class Splitting {
 public:
  Splitting(onnx::GraphProto& graph, NameAllocator& names, std::int64_t opset)
      : graph_(graph), view_(graph), names_(names), opset_(opset) {}

  bool run() {
    for (int index = 0; index < graph_.node_size(); ++index) {
      const auto& node = graph_.node(index);
      const bool is_swish = node.op_type() == "HardSwish",
                 is_gate = node.op_type() == "HardSigmoid";
      const bool is_split = (is_swish || is_gate) && is_default_domain(node.domain()) &&
                            view_.type_of(node.input(0)) == ElementType::Float &&
                            is_behind_conv(view_, node.input(0), kMaxDistance);
      if (!is_split) {
        nodes_.push_back(node);
      } else if (is_swish) {
        split(node, 1.0F / 6, 0.5F, true);
      } else if (float_attribute(node, "alpha", 0.2F) > 0) {
        split(node, float_attribute(node, "alpha", 0.2F), float_attribute(node, "beta", 0.5F),
              false);
      } else {
        nodes_.push_back(node);
      }
    }
    const bool changed = static_cast<int>(nodes_.size()) != graph_.node_size();
    if (changed) put_back();
    return changed;
  }

 private:
  /// alpha * Clip(x + beta / alpha, 0, 1 / alpha), and that times x.
  void split(onnx::NodeProto node, float alpha, float beta, bool times_input) {
    const std::string x = node.input(0), name = node.name();
    std::string value = add("Add", name, x, {{beta / alpha}}, "shifted");
    value = add_clip(name, value, 1 / alpha);
    if (times_input) value = add("Mul", name, x, {}, "product", value);
    node.set_op_type("Mul");
    node.clear_attribute();
    node.clear_input();
    node.add_input(value);
    node.add_input(constant(node.output(0) + "_factor", alpha));
    nodes_.push_back(std::move(node));
  }

  std::string add(const char* op_type, const std::string& name, const std::string& input,
                  const std::vector<float>& number, const char* role,
                  const std::string& second = {}) {
    onnx::NodeProto node;
    node.set_op_type(op_type);
    node.set_name(names_.unique(name + "_" + role));
    node.add_output(names_.unique(input + "_" + role));
    node.add_input(input);
    node.add_input(number.empty() ? second : constant(input + "_offset", number.front()));
    nodes_.push_back(node);
    return node.output(0);
  }

  std::string add_clip(const std::string& name, const std::string& input, float high) {
    onnx::NodeProto node;
    node.set_op_type("Clip");
    node.set_name(names_.unique(name + "_clipped"));
    node.add_output(names_.unique(input + "_clipped"));
    node.add_input(input);
    if (opset_ < 11) {
      set_float(node, "min", 0);
      set_float(node, "max", high);
    } else {
      node.add_input(constant(input + "_low", 0));
      node.add_input(constant(input + "_high", high));
    }
    nodes_.push_back(node);
    return node.output(0);
  }

  std::string constant(const std::string& wanted, float value) {
    const std::string name = names_.unique(wanted);
    *graph_.add_initializer() =
        make_tensor(name, ElementType::Float, {}, std::as_bytes(std::span(&value, 1)));
    return name;
  }

  void put_back() {
    graph_.clear_node();
    for (auto& node : nodes_) *graph_.add_node() = std::move(node);
  }

  onnx::GraphProto& graph_;
  GraphView view_;
  NameAllocator& names_;
  std::int64_t opset_;
  std::vector<onnx::NodeProto> nodes_;
};

}  // namespace

bool split_hard_sigmoid(Model& model) {
  NameAllocator names(model.graph());
  bool changed = false;
  for_each_graph(model.graph(), [&](onnx::GraphProto& graph) {
    changed |= Splitting(graph, names, model.opset()).run();
  });
  return changed;
}

}  // namespace qtool
