#include "inspect/summary.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <onnx/onnx_pb.h>

#include "model/graph_view.h"

namespace qtool {
namespace {

using OperatorKey = std::pair<std::string, std::string>;  // domain, op_type

OperatorKey key_of(const onnx::NodeProto& node) {
  return {is_default_domain(node.domain()) ? std::string() : node.domain(), node.op_type()};
}

struct Size {
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

Size size_of(const onnx::TensorProto& tensor) {
  const std::size_t count = element_count(tensor);
  if (element_type(tensor) != ElementType::String) {
    return {count, packed_bytes(element_type(tensor), count)};
  }
  Size size{count, 0};
  for (const std::string& text : tensor.string_data()) size.bytes += text.size();
  return size;
}

/// The tensor that a Constant node gives, or null for its short forms (`value_float` …), which
/// weigh nothing.
const onnx::TensorProto* constant_tensor(const onnx::NodeProto& node) {
  if (node.op_type() != "Constant" || !is_default_domain(node.domain())) return nullptr;
  const onnx::AttributeProto* value = find_attribute(node, "value");
  return value != nullptr && value->has_t() ? &value->t() : nullptr;
}

/// Value name -> the first node that reads it, in `graph` and the graphs below.
using Readers = std::unordered_map<std::string_view, const onnx::NodeProto*>;

Readers first_readers(const onnx::GraphProto& graph) {
  Readers readers;
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    for (const auto& node : each.node()) {
      for (const std::string& input : node.input()) readers.try_emplace(input, &node);
    }
  });
  return readers;
}

bool is_output(const onnx::GraphProto& graph, std::string_view name) {
  return std::ranges::any_of(graph.output(), [&](const auto& each) { return each.name() == name; });
}

class Counter {
 public:
  void count(const onnx::GraphProto& graph) {
    const Readers readers = first_readers(graph);
    for (const auto& tensor : graph.initializer())
      count_weight(graph, readers, tensor.name(), tensor);
    for (const auto& sparse : graph.sparse_initializer()) {
      count_weight(graph, readers, sparse.values().name(), sparse.values());
    }
    for (const auto& node : graph.node()) {
      const OperatorKey key = key_of(node);
      OperatorUse& use = operators_[key];
      std::tie(use.domain, use.op_type) = key;
      ++use.node_count;
      ++summary_.node_count;
      if (const auto* tensor = constant_tensor(node); tensor && node.output_size() > 0) {
        count_weight(graph, readers, node.output(0), *tensor);
      }
    }
  }

  ModelSummary result() {
    for (auto& [key, use] : operators_) {
      if (use.node_count > 0) summary_.operators.push_back(std::move(use));
    }
    std::ranges::stable_sort(summary_.operators, std::greater(), &OperatorUse::node_count);
    for (const auto& [type, use] : types_) summary_.weights.push_back(use);
    return std::move(summary_);
  }

 private:
  void count_weight(const onnx::GraphProto& graph, const Readers& readers, const std::string& name,
                    const onnx::TensorProto& tensor) {
    const Size size = size_of(tensor);
    TypeUse& type = types_[element_type(tensor)];
    type.type = element_type(tensor);
    ++type.tensor_count;
    type.elements += size.elements;
    type.bytes += size.bytes;
    summary_.weight_elements += size.elements;
    summary_.weight_bytes += size.bytes;
    if (const auto reader = readers.find(name); reader != readers.end()) {
      OperatorUse& use = operators_[key_of(*reader->second)];
      use.weight_elements += size.elements;
      use.weight_bytes += size.bytes;
    } else if (!is_output(graph, name)) {
      ++summary_.unused_weight_count;
    }
  }

  ModelSummary summary_;
  std::map<OperatorKey, OperatorUse> operators_;
  std::map<ElementType, TypeUse> types_;
};

std::vector<OpsetVersion> opsets_of(const onnx::ModelProto& model) {
  std::map<std::string, std::int64_t> versions;
  for (const auto& opset : model.opset_import()) {
    versions[is_default_domain(opset.domain()) ? std::string() : opset.domain()] = opset.version();
  }
  std::vector<OpsetVersion> out;
  for (const auto& [domain, version] : versions) out.push_back({domain, version});
  return out;
}

}  // namespace

ModelSummary summarize(const Model& model) {
  Counter counter;
  std::size_t graph_count = 0;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    counter.count(graph);
    ++graph_count;
  });
  ModelSummary summary = counter.result();
  summary.subgraph_count = graph_count - 1;
  const onnx::ModelProto& proto = model.proto();
  summary.ir_version = proto.ir_version();
  summary.producer_name = proto.producer_name();
  summary.producer_version = proto.producer_version();
  summary.graph_name = proto.graph().name();
  summary.function_count = static_cast<std::size_t>(proto.functions_size());
  summary.opsets = opsets_of(proto);
  summary.inputs = required_inputs(proto.graph());
  for (const auto& output : proto.graph().output()) summary.outputs.push_back(tensor_info(output));
  return summary;
}

}  // namespace qtool
