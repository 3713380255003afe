#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "model/save.h"

namespace qtool {

// How every command that makes a model brings it to its place.

/// Asks the ONNX checker, then writes the model beside `model.output`.
PendingModel write_model(const Model& model, const Config& config);

/// Loads what was written as a user would: gives `loads`, `skipped`, or why only the checker was
/// asked. Where ONNX Runtime refuses it that is an `Input` error if it refuses the input model too,
/// else a defect; `made` says what qtool made of it, for example `quantized`.
std::string check_loading(const PendingModel& pending, const Config& config, std::string_view made,
                          const std::function<void(const std::string&)>& warn);

/// Lets the model appear, and its manifest where the config wants one.
void publish(PendingModel& pending, const Config& config, const std::string& manifest);

}  // namespace qtool
