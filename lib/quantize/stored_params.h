#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <onnx/onnx_pb.h>

#include "quantize/plan.h"

namespace qtool {

/// The names of one scale and zero point.
struct ParamNames {
  std::string scale, zero_point;
};

/// A constant as it is stored for every graph that reads it with these parameters.
struct StoredConstant {
  QuantParams params;
  std::string values;
  ParamNames names;
};

/// Whether a constant is stored as the same integers, scales and zero points by both.
bool are_stored_alike(const QuantParams& a, const QuantParams& b);

/// The initializer that holds the scales, in their type.
onnx::TensorProto stored_scale(std::string name, const QuantParams& params,
                               std::span<const std::int64_t> shape);

/// The initializer that holds the zero points, in the quantized type.
onnx::TensorProto stored_zero_point(std::string name, const QuantParams& params);

/// Moves the values of a small tensor into the field that is named after their type, where
/// onnxruntime.quantization has those of scales and zero points. For models about to be written.
void use_typed_field(onnx::TensorProto& tensor);

}  // namespace qtool
