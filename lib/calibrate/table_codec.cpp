#include "calibrate/table_codec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <vector>

#include "base/error.h"
#include "calibrate/table.pb.h"
#include "calibrate/table_sample_extremes.h"

namespace qtool {
namespace {

using Limbs = ExactSum::Limbs;

constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

void encode(const Extreme& extreme, ExtremeProto& out) {
  out.set_value(extreme.value);
  out.set_sample(extreme.sample);
}

/// Zero is left out, so `make` gives the message only where there is something to write.
template <typename Make>
void encode(const ExactSum& sum, const Make& make) {
  Limbs limbs = sum.normalized();
  const bool is_negative = limbs.back() < 0;
  if (is_negative) {
    for (std::int64_t& limb : limbs) limb = -limb;
    limbs = ExactSum(limbs).normalized();
  }
  const auto is_set = [](std::int64_t limb) { return limb != 0; };
  const auto first = std::ranges::find_if(limbs, is_set);
  if (first == limbs.end()) return;
  const auto last = std::find_if(limbs.rbegin(), limbs.rend(), is_set).base();
  ExactSumProto& out = *make();
  out.set_is_negative(is_negative);
  out.set_first_limb(static_cast<std::uint32_t>(first - limbs.begin()));
  for (auto limb = first; limb != last; ++limb) out.add_limbs(static_cast<std::uint32_t>(*limb));
}

void encode(const Sketch& sketch, SketchProto& out) {
  out.set_top(static_cast<std::uint32_t>(sketch.top()));
  std::uint32_t last = 0;
  for (const SketchEntry& entry : sketch.entries()) {
    out.add_bucket_steps(entry.bucket - last);
    out.add_counts(entry.count);
    last = entry.bucket;
  }
}

/// Takes one message apart; every way in which it cannot be is an error.
class Decoder {
 public:
  Decoder(const TensorStatisticsProto& message, const TableOrigin& origin,
          std::span<const TableSample> samples, const std::string& where)
      : message_(message),
        kind_(origin.kind),
        has_sample_extremes_(origin.has_sample_extremes),
        samples_(samples),
        where_(where) {}

  TensorStatistics decode();

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::Input, where_ + ": " + what);
  }
  void require(bool holds, const std::string& what) const {
    if (!holds) refuse(what);
  }
  void check_counts() const;
  void check_empty() const;
  void check_kind() const;
  void check_sketch(const TensorStatistics& statistics) const;
  void check_mean(const char* name, const ExactSum& sum, std::uint64_t count,
                  const TensorStatistics& statistics) const;
  Extreme extreme(const char* name, const ExtremeProto& message) const;
  ExactSum sum(const char* name, bool is_there, const ExactSumProto& message) const;
  Sketch sketch() const;

  const TensorStatisticsProto& message_;
  StatisticsKind kind_;
  bool has_sample_extremes_;
  std::span<const TableSample> samples_;
  const std::string& where_;
};

void Decoder::check_counts() const {
  require(message_.value_count() <= kMaxCount && message_.nonfinite_count() <= kMaxCount,
          "counts beyond 2^63, expected fewer values");
  require(message_.sample_count() <= samples_.size(),
          fmt::format("has values of {} samples, expected at most {}, those of the table",
                      message_.sample_count(), samples_.size()));
  require((message_.sample_count() > 0) == (message_.value_count() > 0) &&
              message_.sample_count() <= message_.value_count(),
          fmt::format("has {} values of {} samples, expected one of each at least",
                      message_.value_count(), message_.sample_count()));
}

void Decoder::check_empty() const {
  require(!message_.has_min() && !message_.has_max() && !message_.has_sum_of_minima() &&
              !message_.has_sum_of_maxima() && !message_.has_sketch() && !message_.has_sum() &&
              !message_.has_sample_extremes() && message_.zero_count() == 0,
          "has statistics of no values, expected none");
}

void Decoder::check_kind() const {
  if (kind_ == StatisticsKind::Extremes) {
    require(!message_.has_sketch() && message_.zero_count() == 0,
            "has a distribution, expected none in a table of extremes");
  }
  require(kind_ == StatisticsKind::All || !message_.has_sum(),
          "has a sum, expected none in a table without sums");
}

Extreme Decoder::extreme(const char* name, const ExtremeProto& message) const {
  require(std::isfinite(message.value()),
          fmt::format("{} is {}, expected a finite number", name, message.value()));
  require(
      std::ranges::binary_search(samples_, message.sample(), {}, &TableSample::index),
      fmt::format("{} is of sample number {}, expected one of the table", name, message.sample()));
  return {message.value(), message.sample()};
}

ExactSum Decoder::sum(const char* name, bool is_there, const ExactSumProto& message) const {
  if (!is_there) return {};
  const auto first = static_cast<std::size_t>(message.first_limb());
  const auto count = static_cast<std::size_t>(message.limbs_size());
  constexpr auto kLimbs = static_cast<std::size_t>(ExactSum::kLimbs);
  require(count > 0 && first < kLimbs && count <= kLimbs - first,
          fmt::format("{} has limbs {} to {}, expected 0 to {}", name, first, first + count,
                      ExactSum::kLimbs));
  require(message.limbs(0) != 0 && message.limbs(message.limbs_size() - 1) != 0,
          fmt::format("{} has a limb of 0 at an end, expected none", name));
  Limbs limbs{};
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t limb = message.limbs(static_cast<int>(i));
    limbs[first + i] = message.is_negative() ? -limb : limb;
  }
  return ExactSum(limbs);
}

Sketch Decoder::sketch() const {
  const SketchProto& message = message_.sketch();
  require(message.bucket_steps_size() == message.counts_size(),
          fmt::format("sketch has {} buckets and {} counts, expected as many",
                      message.bucket_steps_size(), message.counts_size()));
  require(static_cast<std::size_t>(message.counts_size()) <= kernels::BitBuckets::kCount,
          fmt::format("sketch has {} buckets, expected at most {}", message.counts_size(),
                      kernels::BitBuckets::kCount));
  std::vector<SketchEntry> entries;
  std::uint64_t bucket = 0;
  for (int i = 0; i < message.counts_size(); ++i) {
    bucket = std::min<std::uint64_t>(bucket + message.bucket_steps(i),
                                     std::numeric_limits<std::uint32_t>::max());
    entries.push_back({static_cast<std::uint32_t>(bucket), message.counts(i)});
  }
  try {
    return Sketch::from(static_cast<int>(std::min<std::uint32_t>(message.top(), 1024)), entries);
  } catch (const Error& error) {
    refuse(error.what());
  }
}

void Decoder::check_sketch(const TensorStatistics& statistics) const {
  const auto entries = statistics.sketch.entries();
  std::uint64_t count = 0;
  for (const SketchEntry& entry : entries) count += entry.count;
  require(count == statistics.value_count,
          fmt::format("sketch holds {} values, expected {}", count, statistics.value_count));
  const std::uint64_t low = entries.front().bucket == 0 ? entries.front().count : 0;
  require(statistics.zero_count <= low,
          fmt::format("has {} zeros, expected at most {}, the lowest bucket", statistics.zero_count,
                      low));
  const float largest = std::max(std::abs(statistics.min.value), std::abs(statistics.max.value));
  const int top = std::max(kernels::BitBuckets::octave_of(largest), kernels::BitBuckets::kLeastTop);
  require(statistics.sketch.top() == top,
          fmt::format("sketch has the top octave {}, expected {}, that of the extremes",
                      statistics.sketch.top(), top));
}

/// A mean lies between the extremes, but for what the float64 sums of single samples were rounded.
void Decoder::check_mean(const char* name, const ExactSum& sum, std::uint64_t count,
                         const TensorStatistics& statistics) const {
  constexpr double kRounding = 1e-6;
  const auto min = static_cast<double>(statistics.min.value);
  const auto max = static_cast<double>(statistics.max.value);
  const double rest = kRounding * std::max(std::abs(min), std::abs(max));
  const double mean = sum.value() / static_cast<double>(count);
  require(mean >= min - rest && mean <= max + rest,
          fmt::format("{} gives a mean of {}, expected one from {} to {}", name, mean, min, max));
}

TensorStatistics Decoder::decode() {
  check_counts();
  check_kind();
  TensorStatistics out;
  out.value_count = message_.value_count();
  out.nonfinite_count = message_.nonfinite_count();
  out.sample_count = message_.sample_count();
  if (out.value_count == 0) {
    check_empty();
    return out;
  }
  out.min = extreme("min", message_.min());
  out.max = extreme("max", message_.max());
  require(out.min.value <= out.max.value,
          fmt::format("min is {}, expected at most {}, the max", out.min.value, out.max.value));
  out.sum_of_minima = sum("sum_of_minima", message_.has_sum_of_minima(), message_.sum_of_minima());
  out.sum_of_maxima = sum("sum_of_maxima", message_.has_sum_of_maxima(), message_.sum_of_maxima());
  out.sum = sum("sum", message_.has_sum(), message_.sum());
  check_mean("sum_of_minima", out.sum_of_minima, out.sample_count, out);
  check_mean("sum_of_maxima", out.sum_of_maxima, out.sample_count, out);
  if (kind_ == StatisticsKind::All) check_mean("sum", out.sum, out.value_count, out);
  require(has_sample_extremes_ || !message_.has_sample_extremes(),
          "has extremes of samples, expected none in a table without them");
  if (has_sample_extremes_)
    out.sample_extremes = decode_sample_extremes(message_.sample_extremes(), out, samples_, where_);
  if (kind_ == StatisticsKind::Extremes) return out;
  require(message_.sketch().counts_size() > 0, "has no sketch, expected one");
  out.zero_count = message_.zero_count();
  out.sketch = sketch();
  check_sketch(out);
  return out;
}

}  // namespace

void encode_statistics(const TensorStatistics& statistics, TensorStatisticsProto& out) {
  out.set_value_count(statistics.value_count);
  out.set_nonfinite_count(statistics.nonfinite_count);
  out.set_sample_count(statistics.sample_count);
  if (statistics.value_count == 0) return;
  encode(statistics.min, *out.mutable_min());
  encode(statistics.max, *out.mutable_max());
  encode(statistics.sum_of_minima, [&] { return out.mutable_sum_of_minima(); });
  encode(statistics.sum_of_maxima, [&] { return out.mutable_sum_of_maxima(); });
  encode(statistics.sum, [&] { return out.mutable_sum(); });
  if (!statistics.sample_extremes.empty())
    encode_sample_extremes(statistics.sample_extremes, *out.mutable_sample_extremes());
  out.set_zero_count(statistics.zero_count);
  if (!statistics.sketch.empty()) encode(statistics.sketch, *out.mutable_sketch());
}

TensorStatistics decode_statistics(const TensorStatisticsProto& message, const TableOrigin& origin,
                                   std::span<const TableSample> samples, const std::string& where) {
  return Decoder(message, origin, samples, where).decode();
}

}  // namespace qtool
