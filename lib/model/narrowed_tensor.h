#pragma once

#include <onnx/onnx_pb.h>

#include "model/model.h"
#include "model/model_writer.h"
#include "model/narrowing.h"

namespace qtool {

// A fourth form of a tensor beside those of Model: a reference to float32 values, of which those of
// its own, narrower type are made when the model is written. So a model larger than memory can
// change its type. `Model::tensor` and the writer know it, `Model::tensor_bytes` refuses it.

/// Gives a float32 tensor of a Model a narrower type: at once where it holds its values, else when
/// it is written.
void set_narrowed(onnx::TensorProto& tensor, const Narrowing& narrowing);

/// What a file gets of a tensor.
WrittenValues written_values(const Model& model, const onnx::TensorProto& tensor);

/// Makes now what would be made when `model` is written, so that it can run.
void finish_narrowing(Model& model);

}  // namespace qtool
