#include "pipeline/trial.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <vector>

#include "base/error.h"
#include "base/interrupt.h"
#include "model/ir_version.h"
#include "model/model.h"
#include "quantize/made_up_ranges.h"
#include "quantize/planner.h"
#include "runtime/session.h"

namespace qtool {
namespace {

/// Of runs that all take longer, or vary without end.
constexpr double kMostUs = 250e3;
/// Shorter runs are timed several at once: asking for the time takes a while too.
constexpr double kLeastUs = 200;

/// What other processes take does not count. A session of one thread runs in the thread that calls.
double thread_us() {
  ::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

struct Timing {
  double us = 0;  ///< of one run, the median
  std::size_t runs = 0;
};

/// Times one model.
class Runs {
 public:
  Runs(const Model& model, std::span<const NamedTensor> inputs)
      : session_(model, SessionConfig()), inputs_(inputs), first_us_(time(1)) {}

  double first_us() const { return first_us_; }
  Timing measure(double budget_us);

 private:
  double time(int runs) const;
  bool is_settled() const;
  double quantile(double share) const {
    return times_[static_cast<std::size_t>(share * static_cast<double>(times_.size() - 1))];
  }

  Session session_;
  std::span<const NamedTensor> inputs_;
  double first_us_;
  std::vector<double> times_;  ///< sorted
};

/// Of one run, on average of several in a row.
double Runs::time(int runs) const {
  throw_if_interrupted();
  const double began = thread_us();
  for (int i = 0; i < runs; ++i) session_.run_only(inputs_);
  return (thread_us() - began) / runs;
}

/// Whether the median will hardly move by further runs.
bool Runs::is_settled() const {
  constexpr std::size_t kLeast = 5;
  constexpr double kPrecision = 0.02;
  if (times_.size() < kLeast) return false;
  const double spread = quantile(0.75) - quantile(0.25);
  return spread <= kPrecision * quantile(0.5) * std::sqrt(static_cast<double>(times_.size()));
}

Timing Runs::measure(double budget_us) {
  const double until = thread_us() + std::min(budget_us, kMostUs);
  const int group = std::max(1, static_cast<int>(kLeastUs / std::max(first_us_, 1.0)));
  Timing out;
  do {
    const double us = time(group);
    times_.insert(std::ranges::upper_bound(times_, us), us);
    out.runs += static_cast<std::size_t>(group);
  } while (thread_us() < until && !is_settled());
  out.us = quantile(0.5);
  return out;
}

Model quantized(const Model& prepared, const Planner& planner) {
  const TensorRanges ranges = made_up_ranges(prepared, planner.measurements(prepared).tensors);
  Model out = planner.lower(prepared.clone(), planner.plan(prepared, ranges, {}));
  raise_ir_version(out);
  return out;
}

/// One model after the other, so that never both take memory.
std::optional<Trial> measure(const Model& original, const Model& prepared, const Planner& planner,
                             std::span<const NamedTensor> inputs, TrialCost cost) {
  if (!affordable_us(cost)) return std::nullopt;
  std::optional<double> left_us;
  const auto time_float = [&] {
    Runs runs(original, inputs);
    // Measured it is known better than foretold.
    cost.float_us = runs.first_us();
    left_us = affordable_us(cost);
    return left_us ? runs.measure(*left_us / 2) : Timing();
  };
  const Timing of_floats = time_float();
  if (!left_us) return std::nullopt;
  const Model integers = quantized(prepared, planner);
  const Timing of_integers = Runs(integers, inputs).measure(*left_us / 2);
  return Trial{of_floats.us, of_integers.us, of_floats.runs, of_integers.runs};
}

}  // namespace

std::optional<Trial> try_out(const Model& original, const Model& prepared, const Planner& planner,
                             std::span<const NamedTensor> inputs, const TrialCost& cost) {
  if (inputs.empty()) return std::nullopt;
  try {
    return measure(original, prepared, planner, inputs, cost);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    return std::nullopt;
  }
}

}  // namespace qtool
