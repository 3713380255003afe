#include "pipeline/typical_sample.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pipeline/calibration_samples.h"

namespace qtool {
namespace {

/// Of some samples from all over the folder the one of middle size.
std::size_t of_middle_size(const SampleFolder& folder) {
  constexpr std::size_t kLookedAt = 9;
  const std::size_t step = std::max<std::size_t>(1, folder.size() / kLookedAt);
  std::vector<std::pair<std::uint64_t, std::size_t>> sizes;
  for (std::size_t index = 0; index < folder.size(); index += step)
    sizes.emplace_back(folder.bytes(index), index);
  std::ranges::sort(sizes);
  return sizes[(sizes.size() - 1) / 2].second;
}

}  // namespace

TypicalSample typical_sample(const Config& config, const Model& model) {
  if (!config.calibration.data) return {};
  // The calibration to come says what is converted.
  const std::function<void(const std::string&)> quiet = [](const std::string&) {};
  try {
    const auto folder = open_sample_folder(*config.calibration.data, config, model, quiet);
    if (folder->size() == 0) return {};
    return {.inputs = folder->read(of_middle_size(*folder)).inputs, .sample_count = folder->size()};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace qtool
