#pragma once

#include "config/config.h"
#include "model/model.h"
#include "preprocess/preprocess.h"

namespace qtool {

/// Brings a model to the form that is quantized: the config's passes, or what every graph needs
/// where they are off, and the opset that the result needs. `inspect` sees the graph that `static`
/// sees.
PreprocessReport prepare_for_quantization(Model& model, const Config& config);

/// The same for quantization at run time, whose operators begin with opset 11.
PreprocessReport prepare_for_dynamic(Model& model, const Config& config);

}  // namespace qtool
