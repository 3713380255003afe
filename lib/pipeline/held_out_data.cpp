#include "pipeline/held_out_data.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "pipeline/calibration_samples.h"
#include "samples/scenarios.h"

namespace qtool {

void HeldOutData::open(const std::vector<std::filesystem::path>& data, const Config& config,
                       const Model& model, const std::function<void(const std::string&)>& warn) {
  const auto inputs = required_inputs(model.graph());
  for (const auto& folder : data) {
    for (const auto& path : find_scenarios(folder, inputs)) add(path, config, model, warn);
  }
}

void HeldOutData::add(const std::filesystem::path& path, const Config& config, const Model& model,
                      const std::function<void(const std::string&)>& warn) {
  const auto is_same = [&](const Scenario& known) {
    std::error_code ignored;
    return std::filesystem::equivalent(known.path, path, ignored);
  };
  if (std::ranges::any_of(scenarios_, is_same)) {
    throw Error(ErrorKind::Usage, fmt::format("--coverage: found '{}' twice, expected it once",
                                              printable(path.string())));
  }
  auto folder = open_sample_folder(path, config, model, warn);
  const std::size_t count = folder->size();
  scenarios_.push_back({path, std::move(folder), sample_count_});
  sample_count_ += count;
}

SampledValue HeldOutData::sampled(float value, std::size_t number) const {
  const auto after = std::ranges::upper_bound(scenarios_, number, {}, &Scenario::first);
  const Scenario& scenario = *std::prev(after);
  return {value, scenario.folder->name(number - scenario.first), scenario.path.string()};
}

}  // namespace qtool
