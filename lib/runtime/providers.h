#pragma once

#include <span>
#include <string>

#include <onnxruntime_cxx_api.h>

namespace qtool {

/// Has a session run nodes on these execution providers, the first that can; the CPU takes the
/// rest. A `Usage` error where this ONNX Runtime does not have one, naming those it has.
void append_providers(Ort::SessionOptions& options, std::span<const std::string> providers);

}  // namespace qtool
