#include "calibrate/calibrate.h"

#include <mutex>
#include <utility>
#include <vector>

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
  explicit StatisticsObserver(std::size_t tap_count) : statistics_(tap_count) {}

  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t>) override {
    statistics_[tap].observe(values);
  }

  const std::vector<TensorStatistics>& statistics() const { return statistics_; }

 private:
  std::vector<TensorStatistics> statistics_;
};

SessionConfig tapped(std::span<const std::string> tensors) {
  SessionConfig out;
  // The values must be those of the graph as it stands. Blocked layouts (All) are faster but add in
  // another order, which moves ranges of deep models by more than 1e-5.
  out.optimization = SessionConfig::Optimization::Extended;
  out.taps.assign(tensors.begin(), tensors.end());
  return out;
}

class Collection {
 public:
  Collection(const Model& model, std::span<const std::string> tensors, const SampleFolder& samples,
             const Progress& progress)
      : tensors_(tensors),
        session_(model, tapped(tensors)),
        samples_(samples),
        progress_(progress) {}

  void run(int threads);
  CalibrationResult result() const;

 private:
  void run_sample(std::size_t index, StatisticsObserver& observer);
  void report_done();

  std::span<const std::string> tensors_;
  Session session_;
  const SampleFolder& samples_;
  const Progress& progress_;
  std::mutex progress_mutex_;
  std::size_t done_ = 0;
  std::vector<StatisticsObserver> observers_;
};

void Collection::run_sample(std::size_t index, StatisticsObserver& observer) {
  throw_if_interrupted();
  const Sample sample = samples_.read(index);
  try {
    session_.run_observed(sample.inputs, observer);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    throw Error(error.kind(), "sample '" + printable(sample.name) + "': " + error.what(),
                error.hint());
  }
  report_done();
}

void Collection::report_done() {
  const std::lock_guard lock(progress_mutex_);
  ++done_;
  if (progress_) progress_(done_, samples_.size());
}

/// The first sample runs alone and shows how much memory another one beside it takes.
void Collection::run(int threads) {
  if (samples_.size() == 0) return;
  const std::uint64_t before = resident_bytes();
  observers_.emplace_back(tensors_.size());
  run_sample(0, observers_.front());
  const std::uint64_t after = resident_bytes();
  const int workers = worker_count(threads, after > before ? after - before : 0, memory_limit());
  while (observers_.size() < static_cast<std::size_t>(workers))
    observers_.emplace_back(tensors_.size());
  parallel_for(samples_.size() - 1, workers, [this](std::size_t index, int worker) {
    run_sample(index + 1, observers_[static_cast<std::size_t>(worker)]);
  });
}

CalibrationResult Collection::result() const {
  CalibrationResult out;
  out.sample_count = samples_.size();
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    TensorStatistics& merged = out.statistics[tensors_[i]];
    for (const auto& observer : observers_) merged.merge(observer.statistics()[i]);
  }
  return out;
}

}  // namespace

CalibrationResult collect_statistics(const Model& model, std::span<const std::string> tensors,
                                     const SampleFolder& samples, int threads,
                                     const Progress& progress) {
  Collection collection(model, tensors, samples, progress);
  collection.run(threads);
  return collection.result();
}

TensorRanges estimate_ranges(const CalibrationResult& result, const CalibrationConfig& config) {
  TensorRanges out;
  for (const auto& [name, statistics] : result.statistics) {
    if (const auto range = minmax_range(statistics, config)) out.emplace(name, *range);
  }
  return out;
}

}  // namespace qtool
