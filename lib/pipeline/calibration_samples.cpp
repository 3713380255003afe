#include "pipeline/calibration_samples.h"

namespace qtool {

std::unique_ptr<SampleFolder> open_sample_folder(
    const std::filesystem::path& path, const Config& config, const Model& model,
    const std::function<void(const std::string&)>& warn) {
  SampleOptions options;
  options.max_samples = config.calibration.max_samples;
  options.allow_nonfinite = config.calibration.allow_nonfinite;
  options.warn = warn;
  return open_samples(path, required_inputs(model.graph()), options);
}

std::unique_ptr<SampleFolder> open_calibration_samples(
    const Config& config, const Model& model, const std::function<void(const std::string&)>& warn) {
  return open_sample_folder(*config.calibration.data, config, model, warn);
}

}  // namespace qtool
