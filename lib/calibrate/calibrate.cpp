#include "calibrate/calibrate.h"

#include <deque>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "calibrate/observe_samples.h"

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
class StatisticsObserver : public SampleObserver {
 public:
  StatisticsObserver(std::span<const std::string> taps, const Collection& collection)
      : collection_(collection),
        statistics_(collection.tensors.size()),
        channel_axes_(channel_axes(taps, collection)),
        channel_sums_(taps.size()),
        channel_extremes_(collection.keeps_channel_extremes ? statistics_.size() : 0) {}

  void begin(std::size_t sample) override { sample_ = sample; }
  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t> shape) override {
    if (tap < statistics_.size()) {
      statistics_[tap].observe(values, sample_, collection_.kind,
                               collection_.keeps_sample_extremes);
    }
    if (tap < channel_extremes_.size()) channel_extremes_[tap].observe(values, shape);
    if (channel_axes_[tap] >= 0) channel_sums_[tap].observe(values, shape, channel_axes_[tap]);
  }

  std::vector<TensorStatistics>& statistics() { return statistics_; }
  const std::vector<ChannelSums>& channel_sums() const { return channel_sums_; }
  const std::vector<ChannelExtremes>& channel_extremes() const { return channel_extremes_; }

 private:
  const Collection& collection_;
  std::uint64_t sample_ = 0;
  std::vector<TensorStatistics> statistics_;
  std::vector<std::int64_t> channel_axes_;
  std::vector<ChannelSums> channel_sums_;
  std::vector<ChannelExtremes> channel_extremes_;
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

/// Blocked layouts (All) take a fifth less time, but add in another order, which moves the extremes
/// of deep models by more than 1e-5: no matter to a distribution, but extremes are to be the
/// graph's.
SessionConfig::Optimization optimization_for(const Collection& collection) {
  const bool is_of_extremes =
      collection.kind == StatisticsKind::Extremes || collection.keeps_channel_extremes;
  return is_of_extremes ? SessionConfig::Optimization::Extended : SessionConfig::Optimization::All;
}

/// What all workers saw, put together.
CalibrationResult merged(std::deque<StatisticsObserver>& observers,
                         std::span<const std::string> taps, const Collection& collection) {
  CalibrationResult out;
  for (std::size_t i = 0; i < collection.tensors.size(); ++i) {
    TensorStatistics& sum = out.statistics[taps[i]];
    for (auto& observer : observers) sum.merge(std::exchange(observer.statistics()[i], {}));
  }
  for (const StatisticsObserver& observer : observers) {
    for (std::size_t i = 0; i < observer.channel_extremes().size(); ++i)
      out.channel_extremes[taps[i]].merge(observer.channel_extremes()[i]);
  }
  const auto axes = channel_axes(taps, collection);
  for (std::size_t i = 0; i < taps.size(); ++i) {
    if (axes[i] < 0) continue;
    ChannelSums& sums = out.channel_sums[taps[i]];
    for (auto& observer : observers) sums.merge(observer.channel_sums()[i]);
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
  const Observation pass{.taps = taps_of(collection),
                         .samples = collection.samples,
                         .optimization = optimization_for(collection),
                         .threads = collection.threads,
                         .keep_on_interrupt = collection.keep_on_interrupt};
  std::deque<StatisticsObserver> observers;
  auto samples = observe_samples(model, pass, folder, progress, [&]() -> SampleObserver& {
    return observers.emplace_back(pass.taps, collection);
  });
  CalibrationResult out = merged(observers, pass.taps, collection);
  out.samples = std::move(samples);
  return out;
}

}  // namespace qtool
