#pragma once

#include <map>
#include <string>

#include "model/graph_view.h"
#include "model/model.h"
#include "runtime/optimize.h"

namespace qtool::testing {

inline bool is_integer_kernel(const std::string& op_type) {
  return op_type.starts_with("QLinear") || op_type == "QGemm" || op_type == "MatMulIntegerToFloat";
}

/// The integer kernels that ONNX Runtime makes of a model, by operator.
inline std::map<std::string, std::size_t> integer_kernels_of(const Model& model) {
  const Model optimized = optimize_by_runtime(model, SessionConfig::Optimization::Extended);
  std::map<std::string, std::size_t> kernels;
  for_each_graph(optimized.graph(), [&](const onnx::GraphProto& graph) {
    for (const auto& node : graph.node()) {
      if (is_integer_kernel(node.op_type())) ++kernels[node.op_type()];
    }
  });
  return kernels;
}

}  // namespace qtool::testing
