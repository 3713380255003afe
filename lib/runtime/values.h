#pragma once

#include <string>

#include <onnx/onnx_pb.h>
#include <onnxruntime_cxx_api.h>

#include "model/tensor.h"

namespace qtool {

/// A view of `tensor` for ONNX Runtime, which does not write to it. `Input` error for types that
/// cannot be passed.
Ort::Value view_of(const NamedTensor& tensor);
/// A view of an initializer's raw_data.
Ort::Value view_of(const onnx::TensorProto& tensor);

/// A copy of what a run gave. `Input` error where it is not a dense tensor of numbers.
Tensor copy_of(const Ort::Value& value, const std::string& name);

TensorInfo tensor_info(const std::string& name, const Ort::TypeInfo& type);

}  // namespace qtool
