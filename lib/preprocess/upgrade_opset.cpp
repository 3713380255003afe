#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <onnx/defs/schema.h>

#include "base/error.h"
#include "model/ir_version.h"
#include "model/node_walk.h"
#include "preprocess/opset_changes.h"
#include "preprocess/preprocess.h"
#include "preprocess/shape_inference.h"

namespace qtool {
namespace {

/// Takes every node of a model from one opset to the next.
class OpsetStep {
 public:
  OpsetStep(Model& model, std::int64_t opset, NameAllocator& names)
      : model_(model), opset_(opset), names_(names) {}

  void run() {
    for_each_graph(std::as_const(model_).graph(),
                   [&](const onnx::GraphProto& graph) { count_uses(graph); });
    visit(model_.graph());
  }

 private:
  void count_uses(const onnx::GraphProto& graph) {
    const auto count = [&](const std::string& name) {
      const int* before = use_counts_.find(name);
      use_counts_.set(name, before ? *before + 1 : 1);
    };
    for (const auto& node : graph.node()) std::ranges::for_each(node.input(), count);
    for (const auto& output : graph.output()) count(output.name());
  }

  void visit(onnx::GraphProto& graph) {
    const auto types = types_.mark();
    const auto initializers = initializers_.mark();
    for (const auto& value : graph.value_info()) types_.set(value.name(), &value.type());
    for (const auto& value : graph.input()) types_.set(value.name(), &value.type());
    for (const auto& value : graph.output()) types_.set(value.name(), &value.type());
    for (const auto& tensor : graph.initializer()) initializers_.set(tensor.name(), &tensor);
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph.mutable_node());
    for (auto& node : nodes) visit(node, graph);
    initializers_.roll_back(initializers);
    types_.roll_back(types);
  }

  void visit(onnx::NodeProto& node, onnx::GraphProto& graph) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit(*attribute.mutable_g());
      for (auto& each : *attribute.mutable_graphs()) visit(each);
    }
    NodeConversion conversion{node, graph, opset_, names_, types_, initializers_, use_counts_};
    if (const auto* change = is_default_domain(node.domain()) ? change_of(node) : nullptr)
      change->convert(conversion);
    for (auto& each : conversion.before) *graph.add_node() = std::move(each);
    graph.add_node()->Swap(&node);
    for (auto& each : conversion.after) *graph.add_node() = std::move(each);
  }

  /// The row for the node's operator at this opset; an error where the opset changed it and there
  /// is none.
  const OpsetChange* change_of(const onnx::NodeProto& node) {
    const auto [entry, is_new] = changes_.try_emplace(node.op_type(), nullptr);
    if (!is_new) return entry->second;
    entry->second = find_opset_change(node.op_type(), opset_);
    if (entry->second || is_extension(node.op_type(), opset_)) return entry->second;
    const auto* schema =
        onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset_), "");
    if (schema && schema->SinceVersion() == opset_ &&
        schema->SinceVersion() != first_version(node.op_type())) {
      throw Error(ErrorKind::Input,
                  describe(node) + ": cannot be raised to opset " + std::to_string(opset_) +
                      ", the operator changed there in a way that qtool does not know");
    }
    return nullptr;
  }

  static int first_version(const std::string& op_type) {
    const auto* schema = onnx::OpSchemaRegistry::Schema(op_type, "");
    int first = schema ? schema->SinceVersion() : 0;
    while (first > 1) {
      const auto* before = onnx::OpSchemaRegistry::Schema(op_type, first - 1, "");
      if (!before) break;
      first = before->SinceVersion();
    }
    return first;
  }

  Model& model_;
  std::int64_t opset_;
  NameAllocator& names_;
  ScopedMap<const onnx::TypeProto*> types_;
  ScopedMap<const onnx::TensorProto*> initializers_;
  ScopedMap<int> use_counts_;
  std::unordered_map<std::string, const OpsetChange*> changes_;
};

}  // namespace

namespace {

/// Whether every operator of the model is the same in opset `to`.
bool means_the_same(const Model& model, std::int64_t from, std::int64_t to) {
  bool same = true;
  for_each_node(model.proto(), [&](const onnx::NodeProto& node) {
    if (!is_default_domain(node.domain())) return;
    const auto* before = onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(from), "");
    const auto* after = onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(to), "");
    same = same && before && after && before->SinceVersion() == after->SinceVersion();
  });
  return same;
}

}  // namespace

void upgrade_opset(Model& model, std::int64_t version) {
  std::int64_t from = model.opset();
  if (from < kOldestOpset && version >= kOldestOpset && means_the_same(model, from, kOldestOpset))
    model.set_opset("", from = kOldestOpset);
  if (from >= version) return;
  if (from < kOldestOpset) {
    throw Error(ErrorKind::Input, "model: its opset " + std::to_string(from) +
                                      " cannot be raised, expected at least " +
                                      std::to_string(kOldestOpset));
  }
  if (version > kNewestOpset) {
    throw Error(ErrorKind::Usage, "opset " + std::to_string(version) +
                                      ": unknown, expected at most " +
                                      std::to_string(kNewestOpset));
  }
  NameAllocator names(model.graph());
  for (std::int64_t opset = from + 1; opset <= version; ++opset)
    OpsetStep(model, opset, names).run();
  model.set_opset("", version);
  model.proto().set_ir_version(std::max(model.proto().ir_version(), ir_version_of(version)));
  std::vector<std::string> no_one_reads;
  ShapeInference(model, no_one_reads).run();
}

}  // namespace qtool
