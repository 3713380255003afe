#pragma once

#include <optional>

#include "config/config.h"
#include "inspect/cost_forecast.h"
#include "model/model.h"
#include "quantize/planner.h"

namespace qtool {

/// Predicts what quantizing gains, before anything is measured: for the sizes that the first sample
/// of `calibration.data` has and what its switches choose, without one for the sizes that the model
/// states. Nothing where these do not tell of most nodes.
std::optional<CostForecast> forecast_gain(const Config& config, const Model& original,
                                          const Model& prepared, const Planner& planner);

}  // namespace qtool
