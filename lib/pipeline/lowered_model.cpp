#include "pipeline/lowered_model.h"

#include <set>
#include <string>
#include <utility>

#include "inspect/kernel_forecast.h"
#include "model/ir_version.h"
#include "preprocess/clamps_to_max_and_min.h"
#include "preprocess/rejoin_hard_swish.h"

namespace qtool {
namespace {

/// MatMul and Gemm give floats with an integer kernel, but not with a Relu or Clip behind them.
void free_layers_of_clamps(Model& model) {
  std::set<std::string> clamps;
  for (const NodeKernel& each : forecast_kernels(model).nodes) {
    if (!each.clamp.empty()) clamps.insert(each.clamp);
  }
  if (!clamps.empty()) clamps_to_max_and_min(model, clamps);
}

}  // namespace

Model lowered_model(Model model, const QuantPlan& plan, const Planner& planner,
                    const Config& config) {
  Model out = planner.lower(std::move(model), plan);
  const bool was_split = config.preprocess.enabled && config.preprocess.simplify;
  const bool may_raise_opset = !config.preprocess.opset;
  if (was_split && !planner.placement().follows_onnxruntime)
    rejoin_hard_swish(out, may_raise_opset);
  if (planner.placement().runtime == kCpuProvider) free_layers_of_clamps(out);
  raise_ir_version(out);
  return out;
}

}  // namespace qtool
