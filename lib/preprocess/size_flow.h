#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "preprocess/graph_editor.h"

namespace qtool {

/// Follows sizes through a graph: two axes, or an axis and an element of a shape computed at run
/// time, that carry the same number here are the same size in every run. Names of dimensions prove
/// no such thing: models are found that call two sizes by one name.
class SizeFlow {
 public:
  using Size = int;
  using Sizes = std::vector<Size>;

  explicit SizeFlow(const GraphEditor& graph) : graph_(graph) {}

  /// Takes in what node `index` makes; nodes come in their order.
  void visit(int index);

  /// The size of each axis; nothing where not even the rank is known.
  std::optional<Sizes> axes(const std::string& value);
  /// The elements of a tensor of integers with at most one axis, where their number is known.
  std::optional<Sizes> elements(const std::string& value);
  /// The number that a size always is.
  std::optional<std::int64_t> constant(Size size) const;

 private:
  Size fresh();
  Size constant_size(std::int64_t value);
  Size derived(const std::string& op_type, Size a, Size b);

  std::optional<Sizes> axes_of(const onnx::NodeProto& node);
  std::optional<Sizes> broadcast(const onnx::NodeProto& node);
  std::optional<Sizes> transposed(const onnx::NodeProto& node);
  std::optional<Sizes> product(const onnx::NodeProto& node);
  std::optional<Sizes> matrix_product(const onnx::NodeProto& node);
  std::optional<Sizes> reshaped(const onnx::NodeProto& node);
  Size quotient(Sizes sizes, const Sizes& divisors);
  std::optional<Sizes> without_axes(const onnx::NodeProto& node);
  std::optional<Sizes> reduced(const onnx::NodeProto& node);
  std::optional<Sizes> with_axes(const onnx::NodeProto& node);

  std::optional<Sizes> elements_of(const onnx::NodeProto& node);
  std::optional<Sizes> shape(const onnx::NodeProto& node);
  std::optional<Sizes> gathered(const onnx::NodeProto& node);
  std::optional<Sizes> sliced(const onnx::NodeProto& node);
  std::optional<Sizes> joined(const onnx::NodeProto& node);
  std::optional<Sizes> computed(const onnx::NodeProto& node);

  const GraphEditor& graph_;
  Size next_ = 0;
  std::map<std::int64_t, Size> constants_;
  std::unordered_map<Size, std::int64_t> numbers_;
  std::map<std::tuple<std::string, Size, Size>, Size> derived_;
  std::unordered_map<std::string, Sizes> axes_;
  std::unordered_map<std::string, Sizes> elements_;
};

}  // namespace qtool
