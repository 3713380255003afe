#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "inspect/cost_forecast.h"
#include "pipeline/trial.h"

namespace qtool {

struct InputSize {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// What is said of the quantized model's time before calibrating.
struct Prediction {
  std::optional<CostForecast> forecast = {};  ///< by the cost table, where sizes are known
  std::optional<Trial> trial = {};            ///< where one was affordable; counts more
  std::vector<InputSize> inputs = {};         ///< whose sizes it is for; empty: the model's own

  bool is_known() const { return trial || forecast; }
  /// Of what is known.
  double float_us() const { return trial ? trial->float_us : forecast->float_us; }
  double quantized_us() const { return trial ? trial->quantized_us : forecast->quantized_us; }
  double ratio() const { return trial ? trial->ratio() : forecast->ratio(); }
};

/// Predicts by the cost table, and makes a trial where the preset is the one for this machine and
/// the manifest need not be that of every other run. `model_bytes`: size of the model's files.
Prediction predict(const Config& config, const Model& original, const Model& prepared,
                   const Planner& planner, std::uint64_t model_bytes);

}  // namespace qtool
