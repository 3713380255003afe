#include "model/widen_bfloat16.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/attributes.h"
#include "model/graph_view.h"
#include "model/node_walk.h"
#include "model/tensor_walk.h"

namespace qtool {
namespace {

constexpr std::int32_t kNarrow = onnx::TensorProto::BFLOAT16, kWide = onnx::TensorProto::FLOAT;

/// Attributes that say the type of what a node makes.
constexpr std::string_view kTypeAttributes[] = {"dtype", "output_dtype", "to"};

using Renames = std::unordered_map<std::string, std::string>;

std::string widened(std::span<const std::byte> bytes) {
  std::string out(bytes.size() * 2, '\0');
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) std::memcpy(&out[2 * i + 2], &bytes[i], 2);
  return out;
}

bool widen(onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      if (type.tensor_type().elem_type() != kNarrow) return false;
      type.mutable_tensor_type()->set_elem_type(kWide);
      return true;
    case onnx::TypeProto::kSparseTensorType:
      if (type.sparse_tensor_type().elem_type() != kNarrow) return false;
      type.mutable_sparse_tensor_type()->set_elem_type(kWide);
      return true;
    case onnx::TypeProto::kSequenceType:
      return widen(*type.mutable_sequence_type()->mutable_elem_type());
    case onnx::TypeProto::kOptionalType:
      return widen(*type.mutable_optional_type()->mutable_elem_type());
    case onnx::TypeProto::kMapType:
      return widen(*type.mutable_map_type()->mutable_value_type());
    default:
      return false;
  }
}

void rename_reads(onnx::NodeProto& node, const Renames& renames);

/// Of a body what it reads from outside; it may define one of the names itself.
void rename_reads(onnx::GraphProto& body, const Renames& renames) {
  const GraphView view(body);
  Renames outer;
  for (const auto& [from, to] : renames) {
    if (!view.defines(from)) outer.emplace(from, to);
  }
  if (outer.empty()) return;
  for (auto& node : *body.mutable_node()) rename_reads(node, outer);
  for (auto& output : *body.mutable_output()) {
    if (const auto found = outer.find(output.name()); found != outer.end())
      output.set_name(found->second);
  }
}

void rename_reads(onnx::NodeProto& node, const Renames& renames) {
  for (auto& input : *node.mutable_input()) {
    if (const auto found = renames.find(input); found != renames.end()) input = found->second;
  }
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_g()) rename_reads(*attribute.mutable_g(), renames);
    for (auto& body : *attribute.mutable_graphs()) rename_reads(body, renames);
  }
}

class Widening {
 public:
  explicit Widening(Model& model) : model_(model), graph_(model.graph()) {}

  bool run() {
    if (!is_needed()) return false;
    for (const auto& input : graph_.input()) {
      if (is_narrow_tensor(input)) kept_.insert(input.name());
    }
    widen_tensors();
    widen_types();
    widen_attributes();
    put_casts();
    return true;
  }

 private:
  bool is_needed() const {
    bool found = false;
    auto& proto = const_cast<onnx::ModelProto&>(model_.proto());
    TensorWalk::model(proto, [&](onnx::TensorProto& tensor, const TensorPlace&) {
      found |= tensor.data_type() == kNarrow;
    });
    for_each_graph(model_.graph(), [&](const onnx::GraphProto& graph) {
      const auto is_narrow = [](const onnx::ValueInfoProto& value) {
        onnx::TypeProto type = value.type();
        return widen(type);
      };
      found = found || std::ranges::any_of(graph.input(), is_narrow) ||
              std::ranges::any_of(graph.output(), is_narrow) ||
              std::ranges::any_of(graph.value_info(), is_narrow);
    });
    for_each_node(model_.proto(), [&](const onnx::NodeProto& node) {
      found = found || std::ranges::any_of(kTypeAttributes, [&](std::string_view name) {
                return int_attribute(node, name, 0) == kNarrow;
              });
    });
    return found;
  }

  static bool is_narrow_tensor(const onnx::ValueInfoProto& value) {
    return value.type().tensor_type().elem_type() == kNarrow;
  }

  /// Between what callers give and take and what the graph works on.
  void put_casts() {
    NameAllocator names(graph_);
    Renames renames;
    std::vector<onnx::NodeProto> before, after;
    const auto cast = [&](const std::string& from, const std::string& to, std::int64_t type) {
      onnx::NodeProto node;
      node.set_op_type("Cast");
      node.set_name(names.unique(to + "_Cast"));
      node.add_input(from);
      node.add_output(to);
      set_int(node, "to", type);
      return node;
    };
    for (const auto& input : graph_.input()) {
      if (!kept_.contains(input.name())) continue;
      renames[input.name()] = names.unique(input.name() + "_float32");
      before.push_back(cast(input.name(), renames[input.name()], kWide));
    }
    Renames made;
    for (const auto& output : graph_.output()) {
      if (!is_narrow_tensor(output) || renames.contains(output.name())) continue;
      made[output.name()] = names.unique(output.name() + "_float32");
      after.push_back(cast(made[output.name()], output.name(), kNarrow));
    }
    renames.insert(made.begin(), made.end());
    rename_definitions(made);
    for (auto& node : *graph_.mutable_node()) rename_reads(node, renames);
    for (auto& node : after) *graph_.add_node() = std::move(node);
    put_first(std::move(before));
  }

  void rename_definitions(const Renames& made) {
    const auto rename = [&](std::string& name) {
      if (const auto found = made.find(name); found != made.end()) name = found->second;
    };
    for (auto& node : *graph_.mutable_node()) {
      for (auto& output : *node.mutable_output()) rename(output);
    }
    for (auto& tensor : *graph_.mutable_initializer()) rename(*tensor.mutable_name());
    for (auto& tensor : *graph_.mutable_sparse_initializer())
      rename(*tensor.mutable_values()->mutable_name());
  }

  void put_first(std::vector<onnx::NodeProto> nodes) {
    if (nodes.empty()) return;
    for (auto& node : *graph_.mutable_node()) nodes.push_back(std::move(node));
    graph_.clear_node();
    for (auto& node : nodes) *graph_.add_node() = std::move(node);
  }

  /// The default of an input stays what the input is.
  void widen_tensors() {
    TensorWalk::model(model_.proto(), [&](onnx::TensorProto& tensor, const TensorPlace& place) {
      const bool is_default = place.attribute == nullptr && kept_.contains(tensor.name());
      if (tensor.data_type() != kNarrow || is_default) return;
      std::string values = widened(model_.tensor_bytes(tensor));
      tensor.clear_external_data();
      tensor.clear_data_location();
      tensor.set_raw_data(std::move(values));
      tensor.set_data_type(kWide);
    });
  }

  void widen_types() {
    for_each_graph(graph_, [&](onnx::GraphProto& graph) {
      if (&graph != &graph_) {
        for (auto& value : *graph.mutable_input()) widen(*value.mutable_type());
        for (auto& value : *graph.mutable_output()) widen(*value.mutable_type());
      }
      for (auto& value : *graph.mutable_value_info()) {
        if (&graph != &graph_ || !kept_.contains(value.name())) widen(*value.mutable_type());
      }
    });
    for (auto& function : *model_.proto().mutable_functions()) {
      for (auto& value : *function.mutable_value_info()) widen(*value.mutable_type());
    }
  }

  void widen_attributes() {
    for_each_node(model_.proto(), [&](onnx::NodeProto& node) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_tp()) widen(*attribute.mutable_tp());
        const bool says_type =
            std::ranges::find(kTypeAttributes, attribute.name()) != std::end(kTypeAttributes);
        if (says_type && attribute.i() == kNarrow) attribute.set_i(kWide);
      }
    });
  }

  Model& model_;
  onnx::GraphProto& graph_;
  std::unordered_set<std::string> kept_;  ///< inputs of the model that are bfloat16
};

}  // namespace

bool widen_bfloat16(Model& model) { return Widening(model).run(); }

}  // namespace qtool
