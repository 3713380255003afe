#include "calibrate/coverage.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "calibrate/calibrate.h"
#include "calibrate/observe_samples.h"

namespace qtool {
namespace {

/// Values at once, few enough for a counter of 32 bits.
constexpr std::size_t kPiece = std::size_t{1} << 16;

std::uint64_t count_outside(std::span<const float> values, Range range) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  std::uint64_t out = 0;
  for (; !values.empty(); values = values.subspan(std::min(values.size(), kPiece))) {
    std::uint32_t count = 0;
    // Without a branch, so that several values are compared at a time. NaN is on neither side.
    for (const float value : values.first(std::min(values.size(), kPiece))) {
      const int is_below = (value < range.min) & (value >= -kLargest);
      const int is_above = (value > range.max) & (value <= kLargest);
      count += static_cast<std::uint32_t>(is_below | is_above);
    }
    out += count;
  }
  return out;
}

/// The values of one worker, by tap.
class CoverageObserver : public SampleObserver {
 public:
  CoverageObserver(const CoveragePass& pass, std::span<const std::optional<Range>> ranges)
      : first_sample_(pass.first_sample), ranges_(ranges), values_(pass.tensors.size()) {}

  void begin(std::size_t sample) override { sample_ = first_sample_ + sample; }
  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t>) override {
    values_[tap].observe(values, sample_, ranges_[tap]);
  }
  const HeldOutValues& values(std::size_t tap) const { return values_[tap]; }

 private:
  std::uint64_t first_sample_;
  std::uint64_t sample_ = 0;
  std::span<const std::optional<Range>> ranges_;
  std::vector<HeldOutValues> values_;
};

std::vector<std::optional<Range>> ranges_by_tap(const CoveragePass& pass) {
  std::vector<std::optional<Range>> out;
  for (const std::string& name : pass.tensors) {
    const auto found = pass.ranges.find(name);
    out.push_back(found == pass.ranges.end() ? std::nullopt : std::optional(found->second));
  }
  return out;
}

}  // namespace

void HeldOutValues::observe(std::span<const float> values, std::uint64_t sample,
                            const std::optional<Range>& range) {
  statistics.observe(values, sample, StatisticsKind::Extremes);
  if (range) clipped_count += count_outside(values, *range);
}

void HeldOutValues::merge(const HeldOutValues& other) {
  statistics.merge(other.statistics);
  clipped_count += other.clipped_count;
}

double HeldOutValues::clipped() const {
  return static_cast<double>(clipped_count) / static_cast<double>(statistics.value_count);
}

double range_used(const TensorStatistics& statistics, Range range) {
  const double width = static_cast<double>(range.max) - static_cast<double>(range.min);
  if (width <= 0) return 1;
  const auto inside = [&](float value) {
    return static_cast<double>(std::clamp(value, range.min, range.max));
  };
  const double low = std::min(0.0, inside(statistics.min.value));
  const double high = std::max(0.0, inside(statistics.max.value));
  return (high - low) / width;
}

std::map<std::string, HeldOutValues> observe_held_out(const Model& model, const CoveragePass& pass,
                                                      const SampleFolder& folder,
                                                      const Progress& progress) {
  const Observation observation{
      .taps = pass.tensors, .samples = all_samples(folder), .threads = pass.threads};
  const auto ranges = ranges_by_tap(pass);
  std::deque<CoverageObserver> observers;
  observe_samples(model, observation, folder, progress,
                  [&]() -> SampleObserver& { return observers.emplace_back(pass, ranges); });
  std::map<std::string, HeldOutValues> out;
  for (std::size_t tap = 0; tap < pass.tensors.size(); ++tap) {
    HeldOutValues& sum = out[pass.tensors[tap]];
    for (const auto& observer : observers) sum.merge(observer.values(tap));
  }
  return out;
}

}  // namespace qtool
