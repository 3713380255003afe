#include "pipeline/trial_budget.h"

#include <algorithm>

namespace qtool {
namespace {

/// Share of calibration's time.
constexpr double kShare = 0.1;
constexpr double kAlwaysUs = 150e3, kDryRunUs = 1e6;
/// To plan, to rewrite, and to load both models.
constexpr double kUsPerByte = 5e-3, kUsPerNode = 200;
/// One to warm up and one that counts, of both models.
constexpr double kRuns = 4;
/// What is short anyway may take so long in all.
constexpr double kShortUs = 1e6;
/// Of what a trial cannot do without, so that more runs fit in.
constexpr double kMargin = 1.25;

double needed_us(const TrialCost& cost) {
  return kUsPerByte * static_cast<double>(cost.model_bytes) +
         kUsPerNode * static_cast<double>(cost.node_count) + kRuns * cost.float_us.value_or(0);
}

}  // namespace

double allowed_us(const TrialCost& cost) {
  const double floor = cost.is_dry_run ? kDryRunUs : kAlwaysUs;
  const double calibration = static_cast<double>(cost.sample_count) * cost.float_us.value_or(0);
  const double beside_short =
      cost.float_us ? std::min(kMargin * needed_us(cost), kShortUs - calibration) : 0;
  return std::max({floor, kShare * calibration, beside_short});
}

std::optional<double> affordable_us(const TrialCost& cost) {
  // Of runs that take nobody knows how long, calibration has to make many more.
  const bool is_long_calibration = kRuns <= kShare * static_cast<double>(cost.sample_count);
  if (!cost.float_us && !is_long_calibration) return std::nullopt;
  const double left = allowed_us(cost) - needed_us(cost);
  if (left < 0) return std::nullopt;
  return left;
}

}  // namespace qtool
