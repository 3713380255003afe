#pragma once

#include "model/model.h"
#include "quantize/plan.h"

namespace qtool {

/// Rewrites the graphs of `model` by `plan`, which was built from this very model: pairs of
/// QuantizeLinear and DequantizeLinear on activations, integers behind DequantizeLinear for
/// constants and biases. A constant that bodies read is stored once, where it was. Names of inputs,
/// outputs and surviving nodes stay; all new ones are free in the model. Decides nothing.
Model lower_to_qdq(Model model, const QuantPlan& plan);

}  // namespace qtool
