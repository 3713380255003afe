#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include "model/model.h"

namespace qtool::testing {

/// A message from ONNX's text syntax. Text without a `<ir_version: …>` head is a graph: it becomes
/// a model of IR version 8 and opset 17, for example `agraph (float[N,4] x) => (float[N,4] y)
/// <float[4] b = {1,2,3,4}> { y = Add (x, b) }`.
inline onnx::ModelProto text_proto(std::string_view text) {
  std::string whole(text);
  const auto first = whole.find_first_not_of(" \n");
  if (first != std::string::npos && whole[first] != '<') {
    whole = "<ir_version: 8, opset_import: [\"\" : 17]> " + whole;
  }
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, whole.c_str());
  if (!status.IsOK()) throw std::runtime_error(status.ErrorMessage());
  return proto;
}

/// The same as a checked Model.
inline Model text_model(std::string_view text) { return Model(text_proto(text)); }

}  // namespace qtool::testing
