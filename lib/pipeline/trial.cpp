#include "pipeline/trial.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <utility>
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

/// Of one model in one round. Less than a time slice may all be slow: behind another process caches
/// are cold.
constexpr double kLeastUs = 10e3, kMostUs = 80e3;
/// Shorter runs are timed several at once: asking for the time takes a while too.
constexpr double kGroupUs = 500;
/// A machine's speed varies with what else it does; each round sees both models at one of them.
constexpr std::size_t kRounds = 4;
/// How far the ratios of two rounds may be apart to be believed.
constexpr double kAgreement = 0.04;

/// What other processes take does not count. A session of one thread runs in the thread that calls.
double thread_us() {
  ::timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

/// CPU time of runs of one model, sorted.
class Times {
 public:
  void add(double us, int runs) {
    us_.insert(std::ranges::upper_bound(us_, us), us);
    runs_ += static_cast<std::size_t>(runs);
  }

  std::size_t runs() const { return runs_; }
  double median() const { return quantile(0.5); }
  /// Whether the median will hardly move by further runs.
  bool is_settled() const {
    constexpr std::size_t kLeast = 5;
    constexpr double kPrecision = 0.02;
    if (us_.size() < kLeast) return false;
    const double spread = quantile(0.75) - quantile(0.25);
    return spread <= kPrecision * median() * std::sqrt(static_cast<double>(us_.size()));
  }

 private:
  double quantile(double share) const {
    return us_[static_cast<std::size_t>(share * static_cast<double>(us_.size() - 1))];
  }

  std::vector<double> us_;  ///< of one run, on average of several in a row
  std::size_t runs_ = 0;
};

/// A model that is loaded and warm.
class WarmModel {
 public:
  WarmModel(const Model& model, std::span<const NamedTensor> inputs)
      : session_(model, SessionConfig()), inputs_(inputs), first_us_(time(1)) {}

  double first_us() const { return first_us_; }
  Times measure(double budget_us) const;

 private:
  double time(int runs) const;

  Session session_;
  std::span<const NamedTensor> inputs_;
  double first_us_;
};

/// Of one run, on average of several in a row.
double WarmModel::time(int runs) const {
  throw_if_interrupted();
  const double began = thread_us();
  for (int i = 0; i < runs; ++i) session_.run_only(inputs_);
  return (thread_us() - began) / runs;
}

Times WarmModel::measure(double budget_us) const {
  const double began = thread_us();
  // The first run is no measure: it makes room for all that the others take.
  const double second_us = first_us_ < kGroupUs ? time(1) : first_us_;
  const int group = std::max(1, static_cast<int>(kGroupUs / std::max(second_us, 1.0)));
  const auto passed = [&] { return thread_us() - began; };
  Times out;
  do {
    out.add(time(group), group);
  } while (passed() < std::min(budget_us, kMostUs) && (passed() < kLeastUs || !out.is_settled()));
  return out;
}

struct Round {
  Times floats, integers;
  double ratio() const { return integers.median() / std::max(floats.median(), 1e-3); }
};

/// Rounds of both models, one model after the other, so that never both take memory.
class TrialRun {
 public:
  TrialRun(const Model& original, const Model& prepared, const Planner& planner,
           const Config& config, std::span<const NamedTensor> inputs, const TrialCost& cost)
      : original_(original),
        prepared_(prepared),
        planner_(planner),
        config_(config),
        inputs_(inputs),
        cost_(cost) {}

  std::optional<Trial> run();

 private:
  std::optional<Times> time_floats();
  Times time_integers();
  bool is_done(double last_round_us) const;
  Trial result();
  double round_budget_us() const { return *affordable_us(cost_) / (2 * kRounds); }

  const Model& original_;
  const Model& prepared_;
  const Planner& planner_;
  const Config& config_;
  std::span<const NamedTensor> inputs_;
  TrialCost cost_;
  double began_us_ = thread_us();
  std::optional<Model> quantized_;
  std::vector<Round> rounds_;
};

/// Nothing where it shows that there is no time for more.
std::optional<Times> TrialRun::time_floats() {
  const WarmModel model(original_, inputs_);
  // Measured it is known better than foretold.
  if (rounds_.empty()) cost_.float_us = model.first_us();
  if (!affordable_us(cost_)) return std::nullopt;
  return model.measure(round_budget_us());
}

Times TrialRun::time_integers() {
  if (!quantized_) {
    const auto measured = planner_.measurements(prepared_).tensors;
    const QuantPlan plan = planner_.plan(prepared_, made_up_ranges(prepared_, measured), {});
    quantized_ = lowered_model(prepared_.clone(), plan, planner_, config_);
  }
  return WarmModel(*quantized_, inputs_).measure(round_budget_us());
}

bool TrialRun::is_done(double last_round_us) const {
  if (rounds_.empty()) return false;
  if (rounds_.size() == kRounds) return true;
  if (thread_us() - began_us_ + last_round_us > allowed_us(cost_)) return true;
  if (rounds_.size() < 2) return false;
  const double last = rounds_.back().ratio();
  return std::abs(last - rounds_[rounds_.size() - 2].ratio()) <= kAgreement * last;
}

/// The round in the middle.
Trial TrialRun::result() {
  Trial out;
  for (const Round& round : rounds_) {
    out.float_runs += round.floats.runs();
    out.quantized_runs += round.integers.runs();
  }
  std::ranges::sort(rounds_, {}, &Round::ratio);
  const Round& middle = rounds_[rounds_.size() / 2];
  out.float_us = middle.floats.median();
  out.quantized_us = middle.integers.median();
  return out;
}

std::optional<Trial> TrialRun::run() {
  if (!affordable_us(cost_)) return std::nullopt;
  for (double round_us = 0; !is_done(round_us);) {
    const double began = thread_us();
    auto floats = time_floats();
    if (!floats) return std::nullopt;
    rounds_.push_back({std::move(*floats), time_integers()});
    round_us = thread_us() - began;
  }
  return result();
}

}  // namespace

std::optional<Trial> try_out(const Model& original, const Model& prepared, const Planner& planner,
                             const Config& config, std::span<const NamedTensor> inputs,
                             const TrialCost& cost) {
  if (inputs.empty()) return std::nullopt;
  try {
    return TrialRun(original, prepared, planner, config, inputs, cost).run();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    return std::nullopt;
  }
}

}  // namespace qtool
