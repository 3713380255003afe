#pragma once

#include <map>
#include <set>
#include <string>

#include "config/config.h"
#include "model/model.h"

namespace qtool {

/// What the operators that Gemm was written as come from.
struct GemmDecomposition {
  std::map<std::string, std::string> node_of;    ///< output of a MatMul -> name of its Gemm
  std::map<std::string, std::string> source_of;  ///< transposed initializer -> the original
};

/// Writes every Gemm that is a plain product, in all graphs, as MatMul and Add, as
/// onnxruntime.quantization does before it quantizes at run time. One whose name is in
/// nodes_to_exclude stays.
GemmDecomposition decompose_gemm(Model& model, const QuantizationConfig& config);

}  // namespace qtool
