#include "pipeline/calibration_samples.h"

#include <fmt/format.h>

#include "base/error.h"

namespace qtool {

void check_stride(const CalibrationConfig& config, std::uint64_t sample_count) {
  if (!config.stride || sample_count % static_cast<std::uint64_t>(*config.stride) == 0) return;
  throw Error(
      ErrorKind::Usage,
      fmt::format("calibration.stride: {} does not divide the {} samples, expected a divisor",
                  *config.stride, sample_count));
}

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
  auto folder = open_sample_folder(*config.calibration.data, config, model, warn);
  check_stride(config.calibration, folder->size());
  return folder;
}

}  // namespace qtool
