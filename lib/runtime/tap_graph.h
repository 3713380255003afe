#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <onnx/onnx_pb.h>

namespace qtool {

/// The nodes of a graph that some of its values need, in graph order, and the names of all values
/// these nodes read.
struct GraphPart {
  std::vector<int> nodes;
  std::unordered_set<std::string_view> values;
};

/// What `wanted` need, which may be values of bodies in it. Borrows names from the graph and from
/// `wanted`. An `Internal` error where one is not a value of any of these graphs.
GraphPart part_that_makes(const onnx::GraphProto& graph, std::span<const std::string> wanted);

/// Appends an observer for each tap, in an order that makes each run right behind the node that
/// makes its value, and a constant as the graph's only output; values of bodies are observed inside
/// of these. `order` is the graph whose node order counts.
void add_observers(onnx::GraphProto& to, const onnx::GraphProto& order,
                   std::span<const std::string> taps);

}  // namespace qtool
