#include "calibrate/table_sample_extremes.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "calibrate/table.pb.h"

namespace qtool {
namespace {

void check_count(const SampleExtremesProto& message, const TensorStatistics& statistics,
                 const std::string& where) {
  const auto is_count = [&](int size) {
    return static_cast<std::uint64_t>(size) == statistics.sample_count;
  };
  if (is_count(message.sample_steps_size()) && is_count(message.minima_size()) &&
      is_count(message.maxima_size()))
    return;
  throw Error(ErrorKind::Input,
              fmt::format("{}: has {} minima and {} maxima of {} samples, expected those of {}",
                          where, message.minima_size(), message.maxima_size(),
                          message.sample_steps_size(), statistics.sample_count));
}

/// NaN lies between no extremes.
void check(const SampleExtremes& extremes, const TensorStatistics& statistics,
           std::span<const TableSample> samples, const std::string& where) {
  if (!std::ranges::binary_search(samples, extremes.sample, {}, &TableSample::index)) {
    throw Error(ErrorKind::Input,
                fmt::format("{}: has extremes of sample number {}, expected one of the table",
                            where, extremes.sample));
  }
  if (extremes.min >= statistics.min.value && extremes.min <= extremes.max &&
      extremes.max <= statistics.max.value)
    return;
  throw Error(
      ErrorKind::Input,
      fmt::format("{}: has the extremes {} and {} of sample number {}, expected some from {} "
                  "to {}",
                  where, extremes.min, extremes.max, extremes.sample, statistics.min.value,
                  statistics.max.value));
}

/// Sums are exact, so those of the table are these.
void check_sums(std::span<const SampleExtremes> extremes, const TensorStatistics& statistics,
                const std::string& where) {
  ExactSum minima, maxima;
  for (const SampleExtremes& each : extremes) {
    minima.add(static_cast<double>(each.min));
    maxima.add(static_cast<double>(each.max));
  }
  if (minima == statistics.sum_of_minima && maxima == statistics.sum_of_maxima) return;
  throw Error(ErrorKind::Input,
              where + ": has extremes of samples whose sums are others than those of the tensor");
}

}  // namespace

void encode_sample_extremes(std::span<const SampleExtremes> extremes, SampleExtremesProto& out) {
  std::uint64_t last = 0;
  for (const SampleExtremes& each : extremes) {
    out.add_sample_steps(each.sample - last);
    out.add_minima(each.min);
    out.add_maxima(each.max);
    last = each.sample;
  }
}

std::vector<SampleExtremes> decode_sample_extremes(const SampleExtremesProto& message,
                                                   const TensorStatistics& statistics,
                                                   std::span<const TableSample> samples,
                                                   const std::string& where) {
  check_count(message, statistics, where);
  std::vector<SampleExtremes> out;
  for (int i = 0; i < message.sample_steps_size(); ++i) {
    const std::uint64_t last = out.empty() ? 0 : out.back().sample;
    // A step that goes around 2^64 leads back.
    const std::uint64_t sample = last + message.sample_steps(i);
    if (i > 0 && sample <= last) {
      throw Error(ErrorKind::Input,
                  fmt::format("{}: has extremes of sample number {} behind those of {}, expected "
                              "ascending ones",
                              where, sample, last));
    }
    out.push_back({sample, message.minima(i), message.maxima(i)});
    check(out.back(), statistics, samples, where);
  }
  check_sums(out, statistics, where);
  return out;
}

}  // namespace qtool
