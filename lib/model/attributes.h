#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <onnx/onnx_pb.h>

namespace qtool {

// Each adds an attribute to a node, or gives the one of that name another value and type.
void set_int(onnx::NodeProto& node, const std::string& name, std::int64_t value);
void set_ints(onnx::NodeProto& node, const std::string& name, std::span<const std::int64_t> values);
void set_float(onnx::NodeProto& node, const std::string& name, float value);
void set_string(onnx::NodeProto& node, const std::string& name, const std::string& value);

void drop_attribute(onnx::NodeProto& node, const std::string& name);

}  // namespace qtool
