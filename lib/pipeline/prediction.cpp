#include "pipeline/prediction.h"

#include "base/machine.h"
#include "config/machine_preset.h"
#include "model/node_count.h"
#include "pipeline/calibrated_ranges.h"
#include "pipeline/gain.h"
#include "pipeline/provenance.h"
#include "pipeline/typical_sample.h"

namespace qtool {
namespace {

/// Whether what runs fast here does so where the result is meant to run.
bool may_try_out(const Config& config) {
  return config.preset == preset_for(machine_features()).preset && !is_reproducible_run();
}

}  // namespace

Prediction predict(const Config& config, const Model& original, const Model& prepared,
                   const Planner& planner, std::uint64_t model_bytes) {
  const TypicalSample sample = typical_sample(config, prepared);
  Prediction out{.forecast = forecast_gain(config, original, prepared, planner, sample.inputs)};
  for (const auto& [name, tensor] : sample.inputs) out.inputs.push_back({name, tensor.shape});
  if (!may_try_out(config)) return out;
  TrialCost cost{.model_bytes = model_bytes,
                 .node_count = node_count(prepared.graph()),
                 .is_dry_run = config.dry_run};
  if (out.forecast) cost.float_us = out.forecast->float_us;
  if (measures_ranges(config)) cost.sample_count = sample.sample_count;
  out.trial = try_out(original, prepared, planner, config, sample.inputs, cost);
  return out;
}

}  // namespace qtool
