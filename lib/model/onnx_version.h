#pragma once

#include <string>

namespace qtool {

/// Version of the ONNX library that qtool was built with.
std::string onnx_version();

}  // namespace qtool
