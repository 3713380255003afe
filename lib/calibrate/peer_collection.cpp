#include "calibrate/peer_collection.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "calibrate/observe_samples.h"
#include "calibrate/peer_ranges.h"

namespace qtool {
namespace {

using Extremes = std::optional<PeerExtremes>;

void widen(Extremes& extremes, const PeerExtremes& other) {
  if (!extremes) {
    extremes = other;
    return;
  }
  extremes->min = std::min(extremes->min, other.min);
  extremes->max = std::max(extremes->max, other.max);
  extremes->min_magnitude = std::min(extremes->min_magnitude, other.min_magnitude);
  extremes->max_magnitude = std::max(extremes->max_magnitude, other.max_magnitude);
}

Extremes extremes_of(std::span<const float> values) {
  Extremes out;
  for (const float value : values) {
    const float magnitude = std::abs(value);
    if (std::isfinite(value)) widen(out, {value, value, magnitude, magnitude});
  }
  return out;
}

/// The extremes that one worker sees, by tap.
class ExtremesObserver : public SampleObserver {
 public:
  explicit ExtremesObserver(std::size_t taps) : extremes_(taps), has_nonfinite_(taps) {}

  void begin(std::size_t) override {}
  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t>) override {
    if (const Extremes seen = extremes_of(values)) widen(extremes_[tap], *seen);
    if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
      has_nonfinite_[tap] = true;
  }
  const std::vector<Extremes>& extremes() const { return extremes_; }
  bool has_nonfinite(std::size_t tap) const { return has_nonfinite_[tap]; }

 private:
  std::vector<Extremes> extremes_;
  std::vector<bool> has_nonfinite_;
};

/// The counts of one worker, by tap; none of tensors without a finite value.
class HistogramObserver : public SampleObserver {
 public:
  HistogramObserver(const std::vector<Extremes>& extremes, const PeerCollection& collection) {
    for (const Extremes& each : extremes) {
      auto& histogram = histograms_.emplace_back();
      if (each) histogram.emplace(*each, collection.of, collection.bins);
    }
  }

  void begin(std::size_t) override {}
  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t>) override {
    if (histograms_[tap]) histograms_[tap]->observe(values);
  }
  std::vector<std::optional<PeerHistogram>>& histograms() { return histograms_; }

 private:
  std::vector<std::optional<PeerHistogram>> histograms_;
};

/// One pass whose observers are made of `arguments`.
template <typename Observer, typename... Arguments>
std::deque<Observer> observers_after_pass(const Model& model, const PeerCollection& collection,
                                          const SampleFolder& folder, const Progress& progress,
                                          const Arguments&... arguments) {
  std::deque<Observer> out;
  const Observation pass{.taps = collection.tensors,
                         .samples = collection.samples,
                         .optimization = SessionConfig::Optimization::Extended,
                         .threads = collection.threads,
                         .keep_on_interrupt = false};
  observe_samples(model, pass, folder, progress,
                  [&]() -> SampleObserver& { return out.emplace_back(arguments...); });
  return out;
}

std::optional<Range> range_of(const PeerHistogram& histogram, const CalibrationConfig& config) {
  return config.method == CalibrationMethod::Entropy ? peer_entropy_range(histogram, config)
                                                     : peer_percentile_range(histogram, config);
}

}  // namespace

PeerHistogram::Of peer_histogram_for(const CalibrationConfig& config) {
  const bool is_of_magnitudes = config.method == CalibrationMethod::Percentile && config.symmetric;
  return is_of_magnitudes ? PeerHistogram::Of::Magnitudes : PeerHistogram::Of::Values;
}

PeerHistograms collect_peer_histograms(const Model& model, const PeerCollection& collection,
                                       const SampleFolder& folder, const Progress& progress) {
  PeerHistograms out;
  if (collection.tensors.empty() || collection.samples.empty()) return out;
  std::vector<Extremes> extremes(collection.tensors.size());
  const auto observers = observers_after_pass<ExtremesObserver>(model, collection, folder, progress,
                                                                collection.tensors.size());
  for (std::size_t i = 0; i < extremes.size(); ++i) {
    for (const auto& observer : observers) {
      if (observer.extremes()[i]) widen(extremes[i], *observer.extremes()[i]);
    }
    const auto is_unfit = [i](const auto& observer) { return observer.has_nonfinite(i); };
    if (!collection.allow_nonfinite && std::ranges::any_of(observers, is_unfit))
      extremes[i].reset();
  }
  for (auto& observer : observers_after_pass<HistogramObserver>(model, collection, folder, progress,
                                                                extremes, collection)) {
    for (std::size_t i = 0; i < extremes.size(); ++i) {
      if (!extremes[i]) continue;
      PeerHistogram& part = *observer.histograms()[i];
      const auto [sum, is_first] = out.try_emplace(collection.tensors[i], std::move(part));
      if (!is_first) sum->second.merge(part);
    }
  }
  return out;
}

TensorRanges peer_ranges(const PeerHistograms& histograms, const CalibrationConfig& config,
                         int threads) {
  std::vector<std::optional<Range>> ranges(histograms.size());
  std::vector<const PeerHistogram*> tensors;
  for (const auto& [name, histogram] : histograms) tensors.push_back(&histogram);
  parallel_for(tensors.size(), threads,
               [&](std::size_t i, int) { ranges[i] = range_of(*tensors[i], config); });
  TensorRanges out;
  auto range = ranges.begin();
  for (const auto& [name, histogram] : histograms) {
    if (const auto& found = *range++) out.emplace(name, *found);
  }
  return out;
}

}  // namespace qtool
