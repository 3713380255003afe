#include "preprocess/constant_nodes.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "model/graph_view.h"
#include "preprocess/foldable.h"
#include "preprocess/scoped_map.h"
#include "preprocess/value_type.h"

namespace qtool {
namespace {

/// Results up to so many bytes are made whatever their inputs were; larger ones up to so many times
/// their inputs.
constexpr std::uint64_t kSmallBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxGrowth = 4;
/// All results together may add so much, or this part of what the initializers take.
constexpr std::uint64_t kMinBudget = std::uint64_t{16} << 20;
constexpr std::uint64_t kBudgetPart = 4;

std::uint64_t tensor_bytes(const onnx::TensorProto& tensor) {
  return packed_bytes(element_type(tensor), element_count(tensor));
}

/// What it makes of a constant is what the model shall store. Its counterpart stays: folded, it
/// would undo that.
bool is_quantizer(const onnx::NodeProto& node) {
  return node.op_type() == "QuantizeLinear" && is_default_domain(node.domain());
}

/// A value that is known before the model runs.
struct Constant {
  const onnx::TensorProto* tensor = nullptr;  ///< an initializer, or
  int producer = -1;                          ///< the constant node that makes it
  int output = 0;
  std::uint64_t bytes = 0;
};

class Finder {
 public:
  Finder(onnx::GraphProto& main, const std::unordered_set<std::string>& excluded)
      : excluded_(excluded) {
    std::uint64_t total = 0;
    for_each_graph(std::as_const(main), [&](const onnx::GraphProto& graph) {
      for (const auto& tensor : graph.initializer()) total += tensor_bytes(tensor);
      for (const auto& node : graph.node()) {
        for (const auto& input : node.input()) ++use_counts_[input];
      }
    });
    budget_ = std::max(kMinBudget, total / kBudgetPart);
    visit(main);
  }

  ConstantNodes take() { return std::move(found_); }

 private:
  void visit(onnx::GraphProto& graph) {
    const auto constants = constants_.mark();
    const auto types = types_.mark();
    for (const auto& value : graph.value_info()) types_.set(value.name(), &value.type());
    for (const auto& tensor : graph.initializer()) {
      constants_.set(tensor.name(), Constant{.tensor = &tensor, .bytes = tensor_bytes(tensor)});
    }
    // The caller may give another value for an initializer that is an input too.
    for (const auto& input : graph.input()) constants_.set(input.name(), std::nullopt);
    std::unordered_set<std::string> outputs;
    for (const auto& output : graph.output()) outputs.insert(output.name());
    for (int index = 0; index < graph.node_size(); ++index) visit(graph, index, outputs);
    types_.roll_back(types);
    constants_.roll_back(constants);
  }

  void visit(onnx::GraphProto& graph, int index, const std::unordered_set<std::string>& outputs) {
    auto& node = *graph.mutable_node(index);
    const bool makes_output = std::ranges::any_of(
        node.output(), [&](const std::string& name) { return outputs.contains(name); });
    if (!makes_output && is_constant(node) && is_affordable(node)) return add(graph, index);
    for (const auto& input : node.input()) mark_read(input);
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit(*attribute.mutable_g());
      for (auto& each : *attribute.mutable_graphs()) visit(each);
    }
  }

  const Constant* find(const std::string& name) const {
    const auto* found = constants_.find(name);
    return found && *found ? &**found : nullptr;
  }

  bool is_constant(const onnx::NodeProto& node) const {
    if (!(is_pure(node) || is_quantizer(node)) || node.output_size() == 0 ||
        excluded_.contains(node.output(0)))
      return false;
    int count = 0;
    for (const auto& input : node.input()) {
      if (input.empty()) continue;
      const Constant* constant = find(input);
      if (!constant) return false;
      // Sizes that hang on values are right only where inference saw the values.
      if (!constant->tensor && is_sized_by_values(node)) return false;
      ++count;
    }
    return count > 0;
  }

  /// Whether the node's results are of known and bearable size; pays for them from the budget.
  bool is_affordable(const onnx::NodeProto& node) {
    std::uint64_t in = 0, freed = 0, out = 0;
    for (const auto& input : node.input()) {
      if (input.empty()) continue;
      const Constant& constant = *find(input);
      in += constant.bytes;
      if (use_counts_[input] == 1) freed += constant.bytes;
    }
    for (const auto& output : node.output()) {
      if (output.empty()) continue;
      const auto* type = types_.find(output);
      const auto bytes = type ? known_bytes(**type) : std::nullopt;
      if (!bytes || *bytes > kSmallBytes + kMaxGrowth * in) return false;
      out += *bytes;
    }
    if (out > std::max(kSmallBytes, kMaxGrowth * in) || out > freed + budget_) return false;
    budget_ -= out > freed ? out - freed : 0;
    return true;
  }

  void add(onnx::GraphProto& graph, int index) {
    const int place = static_cast<int>(found_.nodes.size());
    ConstantNode& entry = found_.nodes.emplace_back();
    entry.graph = &graph;
    entry.index = index;
    entry.node = graph.node(index);
    for (auto& input : *entry.node.mutable_input()) {
      if (!input.empty()) bind_input(entry, place, input);
    }
    for (int i = 0; i < entry.node.output_size(); ++i) {
      auto& output = *entry.node.mutable_output(i);
      entry.is_read.push_back(false);
      if (output.empty()) continue;
      const auto bytes = known_bytes(**types_.find(output));
      constants_.set(output, Constant{.producer = place, .output = i, .bytes = bytes.value_or(0)});
      output = "value_" + std::to_string(place) + "_" + std::to_string(i);
    }
  }

  void bind_input(ConstantNode& entry, int place, std::string& input) {
    const Constant& constant = *find(input);
    if (constant.tensor) {
      const auto [name, is_new] =
          names_.try_emplace(constant.tensor, "tensor_" + std::to_string(names_.size()));
      input = name->second;
      found_.tensors[input] = constant.tensor;
    } else {
      input = found_.nodes[constant.producer].node.output(constant.output);
      entry.producers.push_back(constant.producer);
      found_.nodes[constant.producer].consumers.push_back(place);
    }
  }

  void mark_read(const std::string& name) {
    const Constant* constant = find(name);
    if (constant && !constant->tensor)
      found_.nodes[constant->producer].is_read[constant->output] = true;
  }

  const std::unordered_set<std::string>& excluded_;
  std::unordered_map<std::string, int> use_counts_;
  std::uint64_t budget_ = 0;
  ScopedMap<std::optional<Constant>> constants_;
  ScopedMap<const onnx::TypeProto*> types_;
  std::unordered_map<const onnx::TensorProto*, std::string> names_;
  ConstantNodes found_;
};

}  // namespace

ConstantNodes find_constant_nodes(onnx::GraphProto& main,
                                  const std::unordered_set<std::string>& excluded) {
  return Finder(main, excluded).take();
}

}  // namespace qtool
