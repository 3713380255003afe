#include "calibrate/calibrate.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/text.h"
#include "calibrate/worker_count.h"
#include "runtime/session.h"

namespace qtool {
namespace {

/// By tap; -1 where the tensor is not averaged.
std::vector<std::int64_t> channel_axes(std::span<const std::string> taps,
                                       const Collection& collection) {
  std::map<std::string, std::int64_t> axes;
  for (const AveragedTensor& tensor : collection.averaged) axes[tensor.name] = tensor.axis;
  std::vector<std::int64_t> out;
  for (const std::string& name : taps) {
    const auto found = axes.find(name);
    out.push_back(found == axes.end() ? -1 : found->second);
  }
  return out;
}

/// The statistics of one worker, by tap.
class StatisticsObserver : public TensorObserver {
 public:
  StatisticsObserver(std::span<const std::string> taps, const Collection& collection)
      : kind_(collection.kind),
        statistics_(collection.tensors.size()),
        channel_axes_(channel_axes(taps, collection)),
        channel_sums_(taps.size()) {}

  void begin(std::size_t sample) { sample_ = sample; }
  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t> shape) override {
    if (tap < statistics_.size()) statistics_[tap].observe(values, sample_, kind_);
    if (channel_axes_[tap] >= 0) channel_sums_[tap].observe(values, shape, channel_axes_[tap]);
  }

  std::vector<TensorStatistics>& statistics() { return statistics_; }
  const std::vector<ChannelSums>& channel_sums() const { return channel_sums_; }

 private:
  StatisticsKind kind_;
  std::uint64_t sample_ = 0;
  std::vector<TensorStatistics> statistics_;
  std::vector<std::int64_t> channel_axes_;
  std::vector<ChannelSums> channel_sums_;
};

/// The tensors to record, then those that are only averaged.
std::vector<std::string> taps_of(const Collection& collection) {
  std::vector<std::string> out = collection.tensors;
  std::set<std::string_view> known(collection.tensors.begin(), collection.tensors.end());
  for (const AveragedTensor& tensor : collection.averaged) {
    if (known.insert(tensor.name).second) out.push_back(tensor.name);
  }
  return out;
}

SessionConfig tapped(std::span<const std::string> taps, const Collection& collection) {
  SessionConfig out;
  // Blocked layouts (All) take a fifth less time, but add in another order, which moves the
  // extremes of deep models by more than 1e-5: no matter to a distribution, but these are to be the
  // graph's.
  out.optimization = collection.kind == StatisticsKind::Extremes
                         ? SessionConfig::Optimization::Extended
                         : SessionConfig::Optimization::All;
  out.taps.assign(taps.begin(), taps.end());
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
        taps_(taps_of(collection)),
        session_(model, tapped(taps_, collection)),
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
  std::vector<std::string> taps_;
  Session session_;
  const SampleFolder& folder_;
  const Progress& progress_;
  std::vector<std::size_t> order_;
  std::mutex done_mutex_;
  std::vector<std::size_t> done_;
  std::vector<StatisticsObserver> observers_;
};

StatisticsObserver& Run::add_observer() { return observers_.emplace_back(taps_, collection_); }

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
    TensorStatistics& merged = out.statistics[taps_[i]];
    for (auto& observer : observers_) merged.merge(std::exchange(observer.statistics()[i], {}));
  }
  const auto axes = channel_axes(taps_, collection_);
  for (std::size_t i = 0; i < taps_.size(); ++i) {
    if (axes[i] < 0) continue;
    ChannelSums& sums = out.channel_sums[taps_[i]];
    for (auto& observer : observers_) sums.merge(observer.channel_sums()[i]);
  }
  return out;
}

}  // namespace

ChannelMeans channel_means(const std::map<std::string, ChannelSums>& sums) {
  ChannelMeans out;
  for (const auto& [name, of_tensor] : sums) {
    if (auto means = of_tensor.means()) out.emplace(name, std::move(*means));
  }
  return out;
}

std::vector<std::size_t> all_samples(const SampleFolder& folder) {
  std::vector<std::size_t> out(folder.size());
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

CalibrationResult collect_statistics(const Model& model, const Collection& collection,
                                     const SampleFolder& folder, const Progress& progress) {
  Run run(model, collection, folder, progress);
  run.run();
  return run.result();
}

}  // namespace qtool
