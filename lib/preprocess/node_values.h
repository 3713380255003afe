#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

/// The permutation of a Transpose of `rank` axes, of which the default reverses the order; empty
/// where it does not fit.
std::vector<std::int64_t> permutation_of(const onnx::NodeProto& node, std::size_t rank);

/// Adds or changes an attribute.
void set_ints(onnx::NodeProto& node, const std::string& name,
              const std::vector<std::int64_t>& values);
void set_int(onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set_float(onnx::NodeProto& node, const std::string& name, float value);
void set_string(onnx::NodeProto& node, const std::string& name, const std::string& value);
void drop_attribute(onnx::NodeProto& node, const std::string& name);

}  // namespace qtool
