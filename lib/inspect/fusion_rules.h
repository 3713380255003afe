#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <onnx/onnx_pb.h>

#include "inspect/fusion_graph.h"

namespace qtool {

/// What an operator needs around it to become an integer kernel of the CPU provider.
struct FusionRule {
  std::string_view op_type;
  std::string_view kernel;             ///< empty: the operator itself takes integers
  int quantized_inputs = 1;            ///< from the first on; -1: all that are there
  int first_quantized = 0;             ///< the first of them
  bool keeps_params = false;           ///< scale and zero point behind it are those before it
  std::string_view float_kernel = {};  ///< with floats behind it; empty: it has none
  std::int64_t since_opset = 1;
};

/// The row of an operator that has an integer kernel, or nullptr.
const FusionRule* find_fusion_rule(const onnx::NodeProto& node);

/// Why node `index` computes floats, or nothing.
std::string obstacle_to_fusion(const FusionGraph& graph, const FusionRule& rule, int index);

/// The Relu or Clip that alone keeps a layer which may give floats from an integer kernel, or -1:
/// ONNX Runtime takes it for one that a quantizer behind it is to do the work of.
int clamp_in_the_way(const FusionGraph& graph, const FusionRule& rule, int index);

/// The kernel of a node without an obstacle.
std::string fused_kernel(const FusionGraph& graph, const FusionRule& rule, int index);

}  // namespace qtool
