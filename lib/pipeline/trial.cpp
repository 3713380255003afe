#include "pipeline/trial.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "model/model.h"
#include "pipeline/lowered_model.h"
#include "quantize/made_up_ranges.h"
#include "quantize/planner.h"
#include "runtime/session.h"

namespace qtool {
namespace {

/// Runs in a row of one model, behind some that bring its data back into the caches and wake what
/// the processor needs for it.
constexpr double kWarmUpUs = 2e3, kGroupUs = 5e3;
/// To what takes longer, caches are of little use.
constexpr double kLongUs = 30e3;
/// Of all runs that count. Fewer may all stand behind another process.
constexpr double kLeastUs = 40e3, kMostUs = 400e3;

/// What other processes take does not count. A session of one thread runs in the thread that calls.
double thread_us() {
  ::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

/// A model that is loaded and warm.
class WarmModel {
 public:
  WarmModel(const Model& model, std::span<const NamedTensor> inputs)
      : session_(model, SessionConfig()), inputs_(inputs), first_us_(time(1)) {
    // The first run is no measure: it makes room for all that the others take.
    if (first_us_ >= kLongUs) return;
    const double second_us = time(1);
    warm_up_ = static_cast<int>(std::ceil(kWarmUpUs / second_us));
    group_ = static_cast<int>(std::ceil(kGroupUs / second_us));
  }

  double first_us() const { return first_us_; }
  std::size_t runs() const { return runs_; }
  /// Of one run, on average of a group.
  double time_group() {
    if (warm_up_ > 0) time(warm_up_);
    runs_ += static_cast<std::size_t>(group_);
    return time(group_);
  }

 private:
  double time(int runs) const;

  Session session_;
  std::span<const NamedTensor> inputs_;
  double first_us_;
  int warm_up_ = 0, group_ = 1;
  std::size_t runs_ = 0;
};

/// At least a nanosecond, which no run takes.
double WarmModel::time(int runs) const {
  throw_if_interrupted();
  const double began = thread_us();
  for (int i = 0; i < runs; ++i) session_.run_only(inputs_);
  return std::max((thread_us() - began) / runs, 1e-3);
}

/// Times of both models in turn. The speed of a machine, of its memory above all, changes with what
/// else it does, while two runs side by side see the same one.
class PairedTimes {
 public:
  void add(double float_us, double quantized_us) {
    float_us_.push_back(float_us);
    ratios_.insert(std::ranges::upper_bound(ratios_, quantized_us / float_us),
                   quantized_us / float_us);
  }

  double ratio() const { return quantile(ratios_, 0.5); }
  double float_us() const;
  /// Whether the ratio will hardly move by further runs.
  bool is_settled() const;

 private:
  static double quantile(const std::vector<double>& sorted, double share) {
    return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }

  std::vector<double> float_us_, ratios_;  ///< the latter sorted
};

double PairedTimes::float_us() const {
  std::vector<double> sorted = float_us_;
  std::ranges::sort(sorted);
  return quantile(sorted, 0.5);
}

bool PairedTimes::is_settled() const {
  constexpr std::size_t kLeast = 5;
  constexpr double kPrecision = 0.01;
  if (ratios_.size() < kLeast) return false;
  const double spread = quantile(ratios_, 0.75) - quantile(ratios_, 0.25);
  return spread <= kPrecision * ratio() * std::sqrt(static_cast<double>(ratios_.size()));
}

/// Where the time is over, the first run of each has to do: both took longer to make room, though
/// not by the same factor.
Trial time_in_turn(WarmModel& floats, WarmModel& integers, double budget_us) {
  if (budget_us <= 0) return {floats.first_us(), integers.first_us(), 1, 1};
  PairedTimes times;
  const double began = thread_us();
  double passed_us = 0, pair_us = 0;
  do {
    const double float_us = floats.time_group();
    times.add(float_us, integers.time_group());
    pair_us = thread_us() - began - passed_us;
    passed_us += pair_us;
  } while (passed_us + pair_us < std::min(budget_us, kMostUs) &&
           (passed_us < kLeastUs || !times.is_settled()));
  return {.float_us = times.float_us(),
          .quantized_us = times.float_us() * times.ratio(),
          .float_runs = floats.runs(),
          .quantized_runs = integers.runs()};
}

Model quantized_somehow(const Model& prepared, const Planner& planner, const Config& config) {
  const auto measured = planner.measurements(prepared).tensors;
  const QuantPlan plan = planner.plan(prepared, made_up_ranges(prepared, measured), {});
  Model out = lowered_model(prepared.clone(), plan, planner, config);
  // All weights were read; the sessions come on top of what stays.
  for (const auto& data : prepared.data_files()) data.file->release_pages();
  return out;
}

}  // namespace

std::optional<Trial> try_out(const Model& original, const Model& prepared, const Planner& planner,
                             const Config& config, std::span<const NamedTensor> inputs,
                             TrialCost cost) {
  if (inputs.empty() || !is_affordable(cost)) return std::nullopt;
  try {
    const double began = thread_us();
    const Model quantized = quantized_somehow(prepared, planner, config);
    WarmModel floats(original, inputs);
    // Measured it is known better than foretold.
    cost.float_us = floats.first_us();
    if (!is_affordable(cost)) return std::nullopt;
    WarmModel integers(quantized, inputs);
    return time_in_turn(floats, integers, allowed_us(cost) - (thread_us() - began));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    return std::nullopt;
  }
}

}  // namespace qtool
