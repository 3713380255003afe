#pragma once

#include "model/model.h"
#include "quantize/plan.h"

namespace qtool {

/// Rewrites the main graph of `model` by `plan`, which was built from this very graph: nodes with a
/// form become their integer operator; a QuantizeLinear stands before the first that reads a float
/// value, a DequantizeLinear before the first float reader of an integer one and at the graph's
/// outputs. Names of inputs and outputs stay; all new ones are free in the model. Decides nothing.
Model lower_to_qoperator(Model model, const QuantPlan& plan);

}  // namespace qtool
