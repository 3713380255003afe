#pragma once

#include "model/model.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// The rows of `placement` whose operators have an integer form, told what that form takes: only
/// weights have scales per channel, and what multiplies always gives integers.
Placement with_integer_forms(const Placement& placement);

/// Gives a plan of tensors its node forms: a node becomes its integer form where all that this
/// reads and writes is quantized and the kernels know it. Every other node works on floats, and is
/// listed with the reason; tensors that no form needs leave the plan.
void add_node_forms(const Model& model, QuantPlan& plan);

}  // namespace qtool
