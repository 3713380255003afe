#include "calibrate/calibrate.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/text.h"
#include "calibrate/minmax.h"
#include "calibrate/worker_count.h"
#include "runtime/session.h"

namespace qtool {
namespace {

/// The statistics of one worker, by tap.
class StatisticsObserver : public TensorObserver {
 public:
  StatisticsObserver(std::size_t tap_count, StatisticsKind kind)
      : kind_(kind), statistics_(tap_count) {}

  void begin(std::size_t sample) { sample_ = sample; }
  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t>) override {
    statistics_[tap].observe(values, sample_, kind_);
  }

  std::vector<TensorStatistics>& statistics() { return statistics_; }

 private:
  StatisticsKind kind_;
  std::uint64_t sample_ = 0;
  std::vector<TensorStatistics> statistics_;
};

SessionConfig tapped(const Collection& collection) {
  SessionConfig out;
  // The values must be those of the graph as it stands. Blocked layouts (All) are faster but add in
  // another order, which moves ranges of deep models by more than 1e-5.
  out.optimization = SessionConfig::Optimization::Extended;
  out.taps = collection.tensors;
  out.stop_inside_runs = !collection.keep_on_interrupt;
  return out;
}

/// `samples` with the largest first, equal ones in their order.
std::vector<std::size_t> largest_first(std::span<const std::size_t> samples,
                                       const SampleFolder& folder) {
  std::vector<std::pair<std::uint64_t, std::size_t>> sized;
  for (const std::size_t sample : samples) sized.emplace_back(folder.bytes(sample), sample);
  std::ranges::stable_sort(sized, std::greater{}, &std::pair<std::uint64_t, std::size_t>::first);
  std::vector<std::size_t> out;
  for (const auto& [bytes, sample] : sized) out.push_back(sample);
  return out;
}

class Run {
 public:
  Run(const Model& model, const Collection& collection, const SampleFolder& folder,
      const Progress& progress)
      : collection_(collection),
        session_(model, tapped(collection)),
        folder_(folder),
        progress_(progress),
        order_(largest_first(collection.samples, folder)) {}

  void run();
  CalibrationResult result();

 private:
  void run_all();
  void run_sample(std::size_t sample, StatisticsObserver& observer);
  void report_done(std::size_t sample);
  StatisticsObserver& add_observer();

  const Collection& collection_;
  Session session_;
  const SampleFolder& folder_;
  const Progress& progress_;
  std::vector<std::size_t> order_;
  std::mutex done_mutex_;
  std::vector<std::size_t> done_;
  std::vector<StatisticsObserver> observers_;
};

StatisticsObserver& Run::add_observer() {
  return observers_.emplace_back(collection_.tensors.size(), collection_.kind);
}

void Run::run_sample(std::size_t sample, StatisticsObserver& observer) {
  throw_if_interrupted();
  const Sample values = folder_.read(sample);
  observer.begin(sample);
  try {
    session_.run_observed(values.inputs, observer);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    throw Error(error.kind(), "sample '" + printable(values.name) + "': " + error.what(),
                error.hint());
  }
  report_done(sample);
}

void Run::report_done(std::size_t sample) {
  const std::lock_guard lock(done_mutex_);
  done_.push_back(sample);
  if (progress_) progress_(done_.size(), order_.size());
}

/// The first sample runs alone and shows how much memory another one beside it takes.
void Run::run_all() {
  const std::uint64_t before = resident_bytes();
  run_sample(order_.front(), add_observer());
  const std::uint64_t after = resident_bytes();
  const int workers =
      worker_count(collection_.threads, after > before ? after - before : 0, memory_limit());
  while (observers_.size() < static_cast<std::size_t>(workers)) add_observer();
  parallel_for(order_.size() - 1, workers, [this](std::size_t index, int worker) {
    run_sample(order_[index + 1], observers_[static_cast<std::size_t>(worker)]);
  });
}

void Run::run() {
  if (order_.empty()) return;
  try {
    run_all();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Interrupted || !collection_.keep_on_interrupt) throw;
  }
}

CalibrationResult Run::result() {
  CalibrationResult out;
  out.samples = std::move(done_);
  std::ranges::sort(out.samples);
  for (std::size_t i = 0; i < collection_.tensors.size(); ++i) {
    TensorStatistics& merged = out.statistics[collection_.tensors[i]];
    for (auto& observer : observers_) merged.merge(std::exchange(observer.statistics()[i], {}));
  }
  return out;
}

}  // namespace

std::vector<std::size_t> all_samples(const SampleFolder& folder) {
  std::vector<std::size_t> out(folder.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

StatisticsKind statistics_for(const CalibrationConfig& config) {
  return config.method == CalibrationMethod::MinMax ? StatisticsKind::Extremes
                                                    : StatisticsKind::Distribution;
}

CalibrationResult collect_statistics(const Model& model, const Collection& collection,
                                     const SampleFolder& folder, const Progress& progress) {
  Run run(model, collection, folder, progress);
  run.run();
  return run.result();
}

TensorRanges estimate_ranges(const std::map<std::string, TensorStatistics>& statistics,
                             const CalibrationConfig& config) {
  TensorRanges out;
  for (const auto& [name, of_tensor] : statistics) {
    if (const auto range = minmax_range(of_tensor, config)) out.emplace(name, *range);
  }
  return out;
}

}  // namespace qtool
