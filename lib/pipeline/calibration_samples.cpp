#include "pipeline/calibration_samples.h"

namespace qtool {

std::unique_ptr<SampleFolder> open_calibration_samples(
    const Config& config, const Model& model, const std::function<void(const std::string&)>& warn) {
  SampleOptions options;
  options.max_samples = config.calibration.max_samples;
  options.allow_nonfinite = config.calibration.allow_nonfinite;
  options.warn = warn;
  return open_samples(*config.calibration.data, required_inputs(model.graph()), options);
}

}  // namespace qtool
