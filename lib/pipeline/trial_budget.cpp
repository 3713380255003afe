#include "pipeline/trial_budget.h"

#include <algorithm>

namespace qtool {
namespace {

/// Shares of calibration's time: what a trial may always take of it, and what at most where it
/// cannot do with less.
constexpr double kShare = 0.1, kLargestShare = 0.25;
constexpr double kAlwaysUs = 250e3, kDryRunUs = 1e6;
/// To plan, to rewrite, and to load both models: measured on nets of 0.5 to 90 MB, of 120 to 330
/// nodes.
constexpr double kUsPerByte = 2e-3, kUsPerNode = 450;
/// One of both models.
constexpr double kRuns = 2;
/// Calibration and trial may take so long together.
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
  const double at_most = std::max(kLargestShare * calibration, kShortUs - calibration);
  const double needed = cost.float_us ? std::min(kMargin * needed_us(cost), at_most) : 0;
  return std::max({floor, kShare * calibration, needed});
}

bool is_affordable(const TrialCost& cost) {
  // Of runs that take nobody knows how long, calibration has to make many more.
  const bool is_long_calibration = kRuns <= kShare * static_cast<double>(cost.sample_count);
  if (!cost.float_us && !is_long_calibration) return false;
  return needed_us(cost) <= allowed_us(cost);
}

}  // namespace qtool
