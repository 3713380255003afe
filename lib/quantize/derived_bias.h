#pragma once

#include <optional>
#include <string>

#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/op_rules.h"
#include "quantize/plan.h"

namespace qtool {

/// A bias between parameters that are decided; without a plan, why it stays in float.
struct DerivedBias {
  std::optional<TensorPlan> plan;
  std::string obstacle;
};

/// Plans the bias that is read at `use` as int32 with scale = input scale x weight scale. `rule` is
/// the node's, refined.
DerivedBias derive_bias(const Model& model, const GraphView& graph, const OpRule& rule, Use use,
                        const QuantParams& input, const QuantParams& weight);

}  // namespace qtool
