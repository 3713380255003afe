#include "pipeline/coverage_gates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace qtool {
namespace {

using Figure = std::optional<double> TensorCoverage::*;

/// `is_worse(a, b)`: whether the figure a is further from the limit's good side than b.
template <typename IsWorse>
Gate judge(std::string name, double limit, Figure figure, std::span<const TensorCoverage> tensors,
           const IsWorse& is_worse) {
  Gate gate{std::move(name), limit, std::numeric_limits<double>::quiet_NaN(), true, {}, {}};
  std::vector<std::pair<double, std::string>> failures;
  for (const TensorCoverage& tensor : tensors) {
    if (!(tensor.*figure)) continue;
    const double value = *(tensor.*figure);
    if (std::isnan(gate.value) || is_worse(value, gate.value)) gate.value = value;
    if (is_worse(value, limit)) failures.emplace_back(value, tensor.name);
  }
  if (std::isnan(gate.value)) gate.note = "no tensor has both a range and values";
  std::ranges::stable_sort(failures, is_worse, &std::pair<double, std::string>::first);
  for (auto& [value, tensor] : failures) gate.failures.push_back(std::move(tensor));
  gate.met = gate.failures.empty() && gate.note.empty();
  return gate;
}

}  // namespace

std::vector<Gate> judge_coverage(const CalibrationConfig& config,
                                 std::span<const TensorCoverage> tensors) {
  std::vector<Gate> out;
  if (config.max_clipped) {
    out.push_back(judge("max_clipped", *config.max_clipped, &TensorCoverage::clipped, tensors,
                        std::greater{}));
  }
  if (config.min_range_used) {
    out.push_back(judge("min_range_used", *config.min_range_used, &TensorCoverage::range_used,
                        tensors, std::less{}));
  }
  return out;
}

}  // namespace qtool
