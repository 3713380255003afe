#include "pipeline/fuse_quantized_gelus.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "preprocess/fusion.h"
#include "preprocess/passes.h"
#include "quantize/plan_builder.h"

namespace qtool {
namespace {

bool is_allowed(const Config& config) {
  return config.preprocess.enabled && config.preprocess.simplify &&
         config.quantization.op_types_to_quantize.empty() &&
         config.quantization.nodes_to_quantize.empty();
}

std::unordered_set<std::string> quantized_values(const QuantPlan& plan) {
  std::unordered_set<std::string> out;
  for (const TensorPlan* tensor : all_tensors(plan)) {
    if (tensor->role == TensorPlan::Role::Activation) out.insert(tensor->name);
  }
  return out;
}

}  // namespace

bool fuse_quantized_gelus(Model& model, const Config& config, const Placement& placement) {
  if (!placement.fuses_gelu || !is_allowed(config) || count_gelu(model).found == 0) return false;
  const auto quantized = quantized_values(draft_plan(model, config.quantization, placement));
  const auto& overrides = config.quantization.extra_options.tensor_quant_overrides;
  const bool changed = fuse_gelu(model, Operators::Contrib, [&](const SpelledGelu& gelu) {
    return quantized.contains(gelu.x) && std::ranges::none_of(gelu.inside, [&](const auto& value) {
             return overrides.contains(value);
           });
  });
  if (changed) remove_dead_nodes(model);
  return changed;
}

}  // namespace qtool
