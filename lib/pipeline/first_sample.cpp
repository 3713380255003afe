#include "pipeline/first_sample.h"

#include <functional>
#include <string>

#include "base/error.h"
#include "pipeline/calibration_samples.h"

namespace qtool {

FirstSample first_sample(const Config& config, const Model& model) {
  if (!config.calibration.data) return {};
  // The calibration to come says what is converted.
  const std::function<void(const std::string&)> quiet = [](const std::string&) {};
  try {
    const auto folder = open_sample_folder(*config.calibration.data, config, model, quiet);
    if (folder->size() == 0) return {};
    return {.inputs = folder->read(0).inputs, .sample_count = folder->size()};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace qtool
