#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "model/graph_view.h"
#include "preprocess/node_values.h"
#include "preprocess/passes.h"

namespace qtool {
namespace {

using Values = google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>;

/// The input or output of that name, of at least three axes; `key` is the config's.
onnx::ValueInfoProto& find_value(Values& values, const std::string& name, const std::string& key) {
  std::vector<std::string> names;
  for (auto& value : values) {
    names.push_back(value.name());
    if (value.name() != name) continue;
    const TensorInfo info = tensor_info(value);
    if (info.has_shape && info.shape.size() >= 3) return value;
    throw Error(ErrorKind::Usage, fmt::format("{}: '{}' is {}, expected it to be of rank >= 3", key,
                                              printable(name), describe(info)));
  }
  throw Error(ErrorKind::Usage,
              fmt::format("{}: '{}' is not present in the model", key, printable(name)),
              "known: " + printable(join(names), 500));
}

/// Axes of a value with channels behind, taken from one with channels second.
std::vector<std::int64_t> to_last(int rank) {
  std::vector<std::int64_t> perm{0};
  for (int axis = 2; axis < rank; ++axis) perm.push_back(axis);
  perm.push_back(1);
  return perm;
}

std::vector<std::int64_t> to_first(int rank) {
  std::vector<std::int64_t> perm{0, rank - 1};
  for (int axis = 1; axis < rank - 1; ++axis) perm.push_back(axis);
  return perm;
}

int rank_of(const onnx::ValueInfoProto& value) {
  return value.type().tensor_type().shape().dim_size();
}

void permute(onnx::ValueInfoProto& value, const std::vector<std::int64_t>& perm) {
  const onnx::TensorShapeProto before = value.type().tensor_type().shape();
  auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int i = 0; i < shape.dim_size(); ++i)
    *shape.mutable_dim(i) = before.dim(static_cast<int>(perm[static_cast<std::size_t>(i)]));
}

void rename_reads(onnx::GraphProto& graph, const std::string& from, const std::string& to) {
  for_each_graph(graph, [&](onnx::GraphProto& each) {
    for (auto& node : *each.mutable_node()) {
      for (auto& input : *node.mutable_input()) {
        if (input == from) input = to;
      }
    }
  });
}

onnx::NodeProto transpose(const std::string& from, const std::string& to,
                          const std::vector<std::int64_t>& perm, NameAllocator& names) {
  onnx::NodeProto node;
  node.set_op_type("Transpose");
  node.set_name(names.unique("Transpose_channel_" + to));
  node.add_input(from);
  node.add_output(to);
  set_ints(node, "perm", perm);
  return node;
}

/// Puts a Transpose behind an input; what it makes has the input's type as it was.
void turn_input(onnx::GraphProto& graph, onnx::ValueInfoProto& input, NameAllocator& names) {
  const std::string inner = names.unique(input.name() + "_channel_first");
  rename_reads(graph, input.name(), inner);
  auto& info = *graph.add_value_info();
  info = input;
  info.set_name(inner);
  const int rank = rank_of(input);
  permute(input, to_last(rank));
  *graph.add_node() = transpose(input.name(), inner, to_first(rank), names);
  auto& nodes = *graph.mutable_node();
  std::rotate(nodes.pointer_begin(), nodes.pointer_end() - 1, nodes.pointer_end());
}

void turn_output(onnx::GraphProto& graph, onnx::ValueInfoProto& output, NameAllocator& names) {
  const std::string inner = names.unique(output.name() + "_channel_first");
  rename_reads(graph, output.name(), inner);
  for (auto& node : *graph.mutable_node()) {
    for (auto& made : *node.mutable_output()) {
      if (made == output.name()) made = inner;
    }
  }
  auto& info = *graph.add_value_info();
  info = output;
  info.set_name(inner);
  const int rank = rank_of(output);
  permute(output, to_last(rank));
  *graph.add_node() = transpose(inner, output.name(), to_last(rank), names);
}

}  // namespace

void make_channel_last(Model& model, const PreprocessConfig& config) {
  auto& graph = model.graph();
  NameAllocator names(graph);
  for (const std::string& name : config.inputs_to_make_channel_last) {
    turn_input(graph,
               find_value(*graph.mutable_input(), name, "preprocess.inputs_to_make_channel_last"),
               names);
  }
  for (const std::string& name : config.outputs_to_make_channel_last) {
    turn_output(
        graph, find_value(*graph.mutable_output(), name, "preprocess.outputs_to_make_channel_last"),
        names);
  }
}

}  // namespace qtool
