#include "preprocess/fold_shapes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/checked.h"
#include "preprocess/scoped_map.h"

namespace qtool {
namespace {

/// The axes of a shape as far as they are known: -1 where one is free.
using PartialShape = std::vector<std::int64_t>;

bool is_known(const PartialShape& shape) {
  return std::ranges::none_of(shape, [](std::int64_t size) { return size < 0; });
}

/// Where an index that counts from the end when negative lies, within 0 … size.
std::int64_t clamped(std::int64_t index, std::int64_t size) {
  return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
}

PartialShape slice(const PartialShape& shape, std::int64_t start, std::int64_t end) {
  const auto size = static_cast<std::int64_t>(shape.size());
  const std::int64_t first = clamped(start, size);
  const std::int64_t last = std::max(first, clamped(end, size));
  return {shape.begin() + first, shape.begin() + last};
}

/// A result, with the shape of the tensor that holds it.
struct Result {
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> shape;
};

/// Walks the graphs, outer before inner, and computes what is asked of shapes that inference found.
class ShapeFolder {
 public:
  explicit ShapeFolder(const Model& model) : model_(model) {}

  int count() const { return count_; }

  void visit(onnx::GraphProto& graph) {
    const std::array marks{types_.mark(), constants_.mark(), shapes_.mark()};
    for (const auto& value : graph.value_info()) types_.set(value.name(), &value.type());
    for (const auto& tensor : graph.initializer()) constants_.set(tensor.name(), &tensor);
    for (const auto& value : graph.input()) {
      types_.set(value.name(), &value.type());
      constants_.set(value.name(), nullptr);
    }
    std::unordered_set<std::string> outputs;
    for (const auto& output : graph.output()) outputs.insert(output.name());
    int kept = 0;
    for (int i = 0; i < graph.node_size(); ++i) {
      auto& node = *graph.mutable_node(i);
      visit_subgraphs(node);
      if (!fold(node, graph, outputs)) graph.mutable_node()->SwapElements(kept++, i);
    }
    graph.mutable_node()->DeleteSubrange(kept, graph.node_size() - kept);
    types_.roll_back(marks[0]);
    constants_.roll_back(marks[1]);
    shapes_.roll_back(marks[2]);
  }

 private:
  /// What a loop carries may have another shape in each round than the body declares: bodies are
  /// left alone.
  void visit_subgraphs(onnx::NodeProto& node) {
    if (node.op_type() != "If") return;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) visit(*attribute.mutable_g());
    }
  }

  /// Whether an initializer of `graph` now stands for the node.
  bool fold(const onnx::NodeProto& node, onnx::GraphProto& graph,
            const std::unordered_set<std::string>& outputs) {
    if (!is_default_domain(node.domain()) || node.output_size() != 1) return false;
    const auto result = compute(node);
    if (!result || !is_known(result->values) || outputs.contains(node.output(0))) return false;
    ++count_;
    *graph.add_initializer() = make_tensor(node.output(0), ElementType::Int64, result->shape,
                                           std::as_bytes(std::span(result->values)));
    return true;
  }

  std::optional<Result> compute(const onnx::NodeProto& node) {
    if (node.op_type() == "Shape") return shape(node);
    if (node.op_type() == "Size") return size(node);
    if (node.op_type() == "Gather") return gather(node);
    if (node.op_type() == "Slice") return sliced(node);
    return std::nullopt;
  }

  std::optional<PartialShape> shape_of(const std::string& value) const {
    if (const auto* tensor = constants_.find(value); tensor && *tensor) {
      return PartialShape((*tensor)->dims().begin(), (*tensor)->dims().end());
    }
    const auto* type = types_.find(value);
    if (!type || !(*type)->has_tensor_type() || !(*type)->tensor_type().has_shape())
      return std::nullopt;
    PartialShape shape;
    for (const auto& dim : (*type)->tensor_type().shape().dim()) {
      shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
    }
    return shape;
  }

  std::optional<Result> shape(const onnx::NodeProto& node) {
    auto whole = node.input_size() == 1 ? shape_of(node.input(0)) : std::nullopt;
    if (!whole) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(whole->size());
    const PartialShape part =
        slice(*whole, int_attribute(node, "start", 0), int_attribute(node, "end", rank));
    shapes_.set(node.output(0), part);
    return Result{part, {static_cast<std::int64_t>(part.size())}};
  }

  std::optional<Result> size(const onnx::NodeProto& node) const {
    const auto whole = node.input_size() == 1 ? shape_of(node.input(0)) : std::nullopt;
    const auto count = whole ? checked_element_count(*whole) : std::nullopt;
    return count ? std::optional(Result{{*count}, {}}) : std::nullopt;
  }

  std::optional<Result> gather(const onnx::NodeProto& node) const {
    const PartialShape* from = node.input_size() == 2 ? shapes_.find(node.input(0)) : nullptr;
    const auto indices = from ? constant(node.input(1)) : std::nullopt;
    if (!indices) return std::nullopt;
    Result result{{}, indices->shape};
    const auto size = static_cast<std::int64_t>(from->size());
    for (std::int64_t index : indices->values) {
      if (index < 0) index += size;
      if (index < 0 || index >= size) return std::nullopt;
      result.values.push_back((*from)[index]);
    }
    return result;
  }

  /// Slices with a step, or with axes that are not constant, are left.
  std::optional<Result> sliced(const onnx::NodeProto& node) const {
    const PartialShape* from = node.input_size() >= 3 ? shapes_.find(node.input(0)) : nullptr;
    if (!from) return std::nullopt;
    const auto start = constant(node.input(1));
    const auto end = constant(node.input(2));
    if (!start || !end || start->values.size() != 1 || end->values.size() != 1) return std::nullopt;
    if (node.input_size() > 4 && !node.input(4).empty()) {
      const auto step = constant(node.input(4));
      if (!step || step->values != std::vector<std::int64_t>{1}) return std::nullopt;
    }
    const PartialShape part = slice(*from, start->values[0], end->values[0]);
    return Result{part, {static_cast<std::int64_t>(part.size())}};
  }

  /// The integers of an initializer.
  std::optional<Result> constant(const std::string& name) const {
    const auto* tensor = constants_.find(name);
    if (!tensor || !*tensor || (*tensor)->dims_size() > 1) return std::nullopt;
    Result result{{}, {(*tensor)->dims().begin(), (*tensor)->dims().end()}};
    const auto bytes = model_.tensor_bytes(**tensor);
    if (element_type(**tensor) == ElementType::Int64) {
      result.values.resize(bytes.size() / sizeof(std::int64_t));
      if (!bytes.empty()) std::memcpy(result.values.data(), bytes.data(), bytes.size());
    } else if (element_type(**tensor) == ElementType::Int32) {
      std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
      if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
      result.values.assign(values.begin(), values.end());
    } else {
      return std::nullopt;
    }
    return result;
  }

  const Model& model_;
  int count_ = 0;
  ScopedMap<const onnx::TypeProto*> types_;
  ScopedMap<const onnx::TensorProto*> constants_;  ///< null: a name that hides one
  ScopedMap<PartialShape> shapes_;
};

}  // namespace

int fold_shapes(Model& model) {
  ShapeFolder folder(model);
  folder.visit(model.graph());
  return folder.count();
}

}  // namespace qtool
