#include "calibrate/calibrate.h"

#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "calibrate/observe_samples.h"

namespace qtool {
namespace {

using Axis = std::optional<std::int64_t>;

/// By tap; nothing where the tensor is not averaged.
std::vector<Axis> channel_axes(std::span<const std::string> taps, const Collection& collection) {
  std::map<std::string, std::int64_t> axes;
  for (const AveragedTensor& tensor : collection.averaged) axes[tensor.name] = tensor.axis;
  std::vector<Axis> out;
  for (const std::string& name : taps) {
    const auto found = axes.find(name);
    out.push_back(found == axes.end() ? Axis() : Axis(found->second));
  }
  return out;
}

std::optional<SampleMoments> sample_moments(const MomentsRequest& request,
                                            std::span<const float> values,
                                            std::span<const std::int64_t> shape) {
  return request.window ? sample_moments(*request.window, values, shape)
                        : sample_moments(request.kind, values, shape, request.axis);
}

/// Second moments that all workers add to: a matrix is large, and its sums are exact, so that their
/// order makes no difference.
class SharedMoments {
 public:
  SharedMoments(std::span<const std::string> taps, std::span<const MomentsRequest> requests)
      : requests_(requests), of_tap_(taps.size()) {
    std::map<std::string_view, std::vector<std::size_t>> by_name;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      moments_.push_back(no_moments(requests[i]));
      by_name[requests[i].name].push_back(i);
    }
    for (std::size_t i = 0; i < taps.size(); ++i) of_tap_[i] = by_name[taps[i]];
  }

  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t> shape) {
    for (const std::size_t i : of_tap_[tap]) {
      const auto sample = sample_moments(requests_[i], values, shape);
      if (!sample) continue;
      const std::lock_guard lock(mutex_);
      moments_[i].add(*sample);
    }
  }
  std::vector<SecondMoments> take() { return std::move(moments_); }

 private:
  std::span<const MomentsRequest> requests_;
  std::vector<std::vector<std::size_t>> of_tap_;
  std::mutex mutex_;
  std::vector<SecondMoments> moments_;
};

/// The statistics of one worker, by tap.
class StatisticsObserver : public SampleObserver {
 public:
  StatisticsObserver(std::span<const std::string> taps, const Collection& collection,
                     SharedMoments& moments)
      : collection_(collection),
        statistics_(collection.tensors.size()),
        channel_axes_(channel_axes(taps, collection)),
        channel_sums_(taps.size()),
        channel_maxima_(collection.channel_maxima ? taps.size() : 0),
        channel_extremes_(collection.keeps_channel_extremes ? statistics_.size() : 0),
        moments_(moments) {}

  void begin(std::size_t sample) override { sample_ = sample; }
  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t> shape) override {
    if (tap < statistics_.size()) {
      statistics_[tap].observe(values, sample_, collection_.kind,
                               collection_.keeps_sample_extremes);
    }
    if (tap < channel_extremes_.size()) channel_extremes_[tap].observe(values, shape);
    if (const Axis axis = channel_axes_[tap]) observe_channels(tap, values, shape, *axis);
  }

  std::vector<TensorStatistics>& statistics() { return statistics_; }
  const std::vector<ChannelSums>& channel_sums() const { return channel_sums_; }
  const std::vector<ChannelMaxima>& channel_maxima() const { return channel_maxima_; }
  const std::vector<ChannelExtremes>& channel_extremes() const { return channel_extremes_; }

 private:
  void observe_channels(std::size_t tap, std::span<const float> values,
                        std::span<const std::int64_t> shape, std::int64_t axis) {
    channel_sums_[tap].observe(values, shape, axis);
    if (!channel_maxima_.empty()) channel_maxima_[tap].observe(values, shape, axis);
    moments_.observe(tap, values, shape);
  }

  const Collection& collection_;
  std::uint64_t sample_ = 0;
  std::vector<TensorStatistics> statistics_;
  std::vector<Axis> channel_axes_;
  std::vector<ChannelSums> channel_sums_;
  std::vector<ChannelMaxima> channel_maxima_;
  std::vector<ChannelExtremes> channel_extremes_;
  SharedMoments& moments_;
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

/// Blocked layouts (All) take a third less time, but add in another order, which moves the extremes
/// of deep models by more than 1e-5.
SessionConfig::Optimization optimization_for(const Collection& collection) {
  const bool keeps_order = collection.keeps_order || collection.keeps_channel_extremes;
  return keeps_order ? SessionConfig::Optimization::Extended : SessionConfig::Optimization::All;
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
    if (!axes[i]) continue;
    ChannelSums& sums = out.channel_sums[taps[i]];
    for (auto& observer : observers) sums.merge(observer.channel_sums()[i]);
    if (!collection.channel_maxima) continue;
    ChannelMaxima& maxima = out.channel_maxima[taps[i]];
    for (auto& observer : observers) maxima.merge(observer.channel_maxima()[i]);
  }
  return out;
}

}  // namespace

SecondMoments no_moments(const MomentsRequest& request) {
  const std::int64_t group = request.window ? request.window->group : 1;
  return SecondMoments(request.kind, static_cast<std::size_t>(group));
}

ChannelMeans channel_means(const std::map<std::string, ChannelSums>& sums) {
  ChannelMeans out;
  for (const auto& [name, of_tensor] : sums) {
    if (auto means = of_tensor.means()) out.emplace(name, std::move(*means));
  }
  return out;
}

ChannelPeaks channel_peaks(const std::map<std::string, ChannelMaxima>& maxima) {
  ChannelPeaks out;
  for (const auto& [name, of_tensor] : maxima) {
    if (auto peaks = of_tensor.maxima(); !peaks.empty()) out.emplace(name, std::move(peaks));
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
                         .batch = collection.batch,
                         .providers = collection.providers,
                         .keep_on_interrupt = collection.keep_on_interrupt};
  SharedMoments moments(pass.taps, collection.second_moments);
  std::deque<StatisticsObserver> observers;
  auto observed = observe_samples(model, pass, folder, progress, [&]() -> SampleObserver& {
    return observers.emplace_back(pass.taps, collection, moments);
  });
  CalibrationResult out = merged(observers, pass.taps, collection);
  out.second_moments = moments.take();
  out.samples = std::move(observed.samples);
  out.run_count = observed.run_count;
  return out;
}

}  // namespace qtool
