#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qtool {

class FusionGraph;
class Model;

/// What ONNX Runtime's CPU provider will run a node with.
struct NodeKernel {
  std::string node_name, op_type;
  std::string kernel;  ///< of integers: `QLinearConv`, `MatMulIntegerToFloat`, the operator itself
                       ///< where it takes integers …; empty: floats
  std::string reason;  ///< why floats, where an integer kernel exists
  std::string clamp = {};  ///< what the Relu or Clip gives that alone is in the way of one
};

/// What the provider makes of a model with QuantizeLinear and DequantizeLinear, or with integer
/// operators.
struct KernelForecast {
  std::vector<NodeKernel> nodes;  ///< that have integer kernels, of all graphs; in graph order
  std::map<std::string, std::size_t> integer_kernels;  ///< by name
  std::size_t float_nodes = 0;                         ///< of `nodes`
};

/// The kernel of one node; nothing where it has none of integers, or goes away.
std::optional<NodeKernel> node_kernel(const FusionGraph& graph, int index);

/// Tells from the graph alone which nodes become integer kernels on x64, with all optimizations of
/// ONNX Runtime 1.32, and of the others why not (docs/placement.md). Runs nothing.
KernelForecast forecast_kernels(const Model& model);

}  // namespace qtool
