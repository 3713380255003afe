#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/attributes.h"
#include "preprocess/graph_editor.h"

namespace qtool {

/// A list of integers that an operator takes as input `slot` or, before some opset, as an
/// attribute; nothing where it is absent or computed.
std::optional<std::vector<std::int64_t>> integers_of(const GraphEditor& graph,
                                                     const onnx::NodeProto& node, int slot,
                                                     const std::string& attribute);

/// What a Slice takes of each axis that it names.
struct Slice {
  std::vector<std::int64_t> starts, ends, axes, steps;
};

/// The constants of a Slice; nothing where one of them is computed.
std::optional<Slice> slice_of(const GraphEditor& graph, const onnx::NodeProto& node);

/// `axis` counted from the front, or -1 where it is outside.
std::int64_t front_axis(std::int64_t axis, std::int64_t rank);

/// The axes of size 1 that a Squeeze takes away or an Unsqueeze adds, from the front and sorted.
/// `plain` is the value without them. Nothing where they are computed, or its rank is unknown.
std::optional<std::vector<std::int64_t>> unit_axes(const GraphEditor& graph, int index,
                                                   const std::string& plain);

/// The permutation of a Transpose of `rank` axes, of which the default reverses the order; empty
/// where it does not fit.
std::vector<std::int64_t> permutation_of(const onnx::NodeProto& node, std::size_t rank);

}  // namespace qtool
