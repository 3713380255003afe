#pragma once

#include <string_view>

#include <onnx/defs/shape_inference.h>

namespace qtool {

/// Sets output types, and shapes where they follow simply, of an operator that ONNX has no schema
/// for; false where there is no row for it in the table either.
bool infer_contrib_types(std::string_view op_type, onnx::InferenceContext& context);

}  // namespace qtool
