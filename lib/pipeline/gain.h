#pragma once

#include <optional>
#include <vector>

#include "config/config.h"
#include "inspect/cost_forecast.h"
#include "model/model.h"
#include "quantize/planner.h"

namespace qtool {

/// Predicts what quantizing gains, before anything is measured: for the sizes that `inputs` have
/// and what their switches choose, without these for the sizes that the model states. Nothing where
/// they do not tell of most nodes.
std::optional<CostForecast> forecast_gain(const Config& config, const Model& original,
                                          const Model& prepared, const Planner& planner,
                                          const std::vector<NamedTensor>& inputs);

}  // namespace qtool
