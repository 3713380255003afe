#include "runtime/ort_model.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "model/graph_view.h"
#include "model/reference.h"
#include "model/tensor_walk.h"
#include "runtime/observer_op.h"
#include "runtime/tap_graph.h"

namespace qtool {
namespace {

void set_location(onnx::TensorProto& tensor, const std::string& location) {
  for (auto& entry : *tensor.mutable_external_data()) {
    if (entry.key() == "location") entry.set_value(location);
  }
}

/// The paths of the model's files below the root folder: ONNX Runtime resolves links and then
/// refuses what lies outside of the folder it was given.
std::vector<std::string> file_locations(const Model& model) {
  std::vector<std::string> out;
  for (const auto& data_file : model.data_files()) {
    const auto& path = data_file.file->path();
    std::error_code error;
    const auto canonical = std::filesystem::canonical(path, error);
    if (error) throw io_error(path.string(), "cannot be found again", error.value());
    out.push_back(canonical.relative_path().string());
  }
  return out;
}

class Builder {
 public:
  explicit Builder(const Model& model) : model_(model), locations_(file_locations(model)) {}

  void add_initializer(const onnx::TensorProto& from, onnx::TensorProto& to) {
    const auto reference = reference_of(from);
    if (!reference && from.raw_data().size() >= Model::kReferenceBytes) {
      in_memory.push_back(&from);
      describe_only(from, to);
      return;
    }
    to = from;
    if (reference) set_location(to, locations_.at(reference->file));
  }

  /// Tensors of nodes: ONNX Runtime looks for files of initializers alone, so attributes get their
  /// bytes.
  void place_tensors_of_nodes(onnx::GraphProto& graph) {
    for_each_graph(graph, [&](onnx::GraphProto& each) {
      for (auto& sparse : *each.mutable_sparse_initializer()) {
        store(*sparse.mutable_values());
        store(*sparse.mutable_indices());
      }
    });
    TensorWalk::graph(graph, [&](onnx::TensorProto& tensor, const TensorPlace& place) {
      if (place.attribute != nullptr) return store(tensor);
      if (const auto reference = reference_of(tensor))
        set_location(tensor, locations_.at(reference->file));
    });
  }

  std::vector<const onnx::TensorProto*> in_memory;

 private:
  /// Name, type and shape; the values are handed over separately.
  static void describe_only(const onnx::TensorProto& from, onnx::TensorProto& to) {
    to.set_name(from.name());
    to.set_data_type(from.data_type());
    *to.mutable_dims() = from.dims();
    set_reference(to, {.file = 0, .offset = 0, .length = from.raw_data().size()});
    set_location(to, "in memory");
  }

  void store(onnx::TensorProto& tensor) const {
    if (!reference_of(tensor)) return;
    const auto bytes = model_.tensor_bytes(tensor);
    tensor.clear_external_data();
    tensor.clear_data_location();
    tensor.set_raw_data(bytes.data(), bytes.size());
  }

  const Model& model_;
  std::vector<std::string> locations_;
};

/// Everything but the graph, and what describes or trains.
onnx::ModelProto frame(const onnx::ModelProto& from) {
  onnx::ModelProto out;
  out.set_ir_version(from.ir_version());
  *out.mutable_opset_import() = from.opset_import();
  *out.mutable_functions() = from.functions();
  return out;
}

std::string serialize(const onnx::ModelProto& proto, const Model& model) {
  std::string out;
  if (!proto.SerializeToString(&out)) {
    throw Error(ErrorKind::Input,
                model.path().string() + ": holds more than 2 GB outside of its weights");
  }
  return out;
}

/// The nodes of `part`, or all, with what they need.
void copy_graph(const onnx::GraphProto& from, const GraphPart* part, Builder& builder,
                onnx::GraphProto& to) {
  const auto needs = [&](const std::string& name) {
    return part == nullptr || part->values.contains(name);
  };
  to.set_name(from.name());
  if (part == nullptr)
    *to.mutable_node() = from.node();
  else
    for (const int node : part->nodes) *to.add_node() = from.node(node);
  for (const auto& sparse : from.sparse_initializer()) {
    if (needs(sparse.values().name())) *to.add_sparse_initializer() = sparse;
  }
  *to.mutable_value_info() = from.value_info();
  builder.place_tensors_of_nodes(to);
  std::unordered_set<std::string_view> dropped;
  for (const auto& tensor : from.initializer()) {
    if (needs(tensor.name()))
      builder.add_initializer(tensor, *to.add_initializer());
    else
      dropped.insert(tensor.name());
  }
  for (const auto& input : from.input()) {
    if (!dropped.contains(input.name())) *to.add_input() = input;
  }
}

}  // namespace

OrtModel make_ort_model(const Model& model) {
  onnx::ModelProto proto = frame(model.proto());
  Builder builder(model);
  copy_graph(model.graph(), nullptr, builder, *proto.mutable_graph());
  *proto.mutable_graph()->mutable_output() = model.graph().output();
  return {.bytes = serialize(proto, model), .in_memory = std::move(builder.in_memory)};
}

OrtModel make_tapped_ort_model(const Model& model, std::span<const std::string> taps) {
  onnx::ModelProto proto = frame(model.proto());
  auto& import = *proto.add_opset_import();
  import.set_domain(ObserverOp::kDomain);
  import.set_version(1);
  Builder builder(model);
  const GraphPart part = part_that_makes(model.graph(), taps);
  copy_graph(model.graph(), &part, builder, *proto.mutable_graph());
  add_observers(*proto.mutable_graph(), model.graph(), taps);
  return {.bytes = serialize(proto, model), .in_memory = std::move(builder.in_memory)};
}

}  // namespace qtool
