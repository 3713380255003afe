#pragma once

#include <string>
#include <string_view>

#include <onnxruntime_cxx_api.h>

#include "base/error.h"

namespace qtool {

/// What ONNX Runtime says, as one line fit for a message of ours: without its codes, the places in
/// its source and the path that it repeats.
std::string clean_message(std::string_view message);

/// Whether a message of ONNX Runtime says that it does not have an operator of the model.
bool names_unknown_operator(std::string_view message);

/// Whether it says that an operator has no kernel for the types that it is given.
bool names_missing_kernel(std::string_view message);

/// `where: ONNX Runtime cannot WHAT: …`. Out of memory is `Internal`, everything else is the
/// model's or the data's fault.
Error ort_error(const Ort::Exception& exception, const std::string& where, const std::string& what);

}  // namespace qtool
