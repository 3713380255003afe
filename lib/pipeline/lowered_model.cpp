#include "pipeline/lowered_model.h"

#include <utility>

#include "model/ir_version.h"
#include "preprocess/rejoin_hard_swish.h"

namespace qtool {

Model lowered_model(Model model, const QuantPlan& plan, const Planner& planner,
                    const Config& config) {
  Model out = planner.lower(std::move(model), plan);
  const bool was_split = config.preprocess.enabled && config.preprocess.simplify;
  const bool may_raise_opset = !config.preprocess.opset;
  if (was_split && !planner.placement().follows_onnxruntime)
    rejoin_hard_swish(out, may_raise_opset);
  raise_ir_version(out);
  return out;
}

}  // namespace qtool
