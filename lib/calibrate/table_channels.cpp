#include "calibrate/table_channels.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "calibrate/table.pb.h"
#include "calibrate/table_moments.h"
#include "calibrate/table_windows.h"

namespace qtool {
namespace {

/// ONNX knows no tensor of more dimensions.
constexpr std::int64_t kMaxAxis = 63;

void check_counts(const ChannelSumsProto& message, const TensorStatistics& statistics,
                  const std::string& where) {
  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorKind::Input, where + ": channels " + what);
  };
  if (message.axis() < -1 || message.axis() > kMaxAxis)
    refuse(fmt::format("lie along axis {}, expected -1 to {}", message.axis(), kMaxAxis));
  if (message.high_size() != message.low_size()) {
    refuse(fmt::format("have {} upper and {} lower halves, expected as many", message.high_size(),
                       message.low_size()));
  }
  const auto is_set = [](auto word) { return word != 0; };
  if (message.values_per_channel() == 0 &&
      (std::ranges::any_of(message.high(), is_set) || std::ranges::any_of(message.low(), is_set)))
    refuse("have sums of no values, expected none");
  if (message.is_ragged() && (message.high_size() > 0 || message.values_per_channel() > 0))
    refuse("differ in number and have sums, expected none");
  const auto values = checked_mul(static_cast<std::uint64_t>(message.high_size()),
                                  std::uint64_t{message.values_per_channel()});
  if (!values || *values > statistics.value_count) {
    refuse(fmt::format("have {} times {} values, expected at most {}", message.high_size(),
                       message.values_per_channel(), statistics.value_count));
  }
}

double largest_of(const TensorStatistics& statistics) {
  return std::max(std::abs(static_cast<double>(statistics.min.value)),
                  std::abs(static_cast<double>(statistics.max.value)));
}

ChannelMaxima decode_maxima(const ChannelSumsProto& message, const TensorStatistics& statistics,
                            const std::string& where) {
  if (message.largest_size() != message.high_size()) {
    throw Error(ErrorKind::Input, fmt::format("{}: channels have {} magnitudes, expected {}", where,
                                              message.largest_size(), message.high_size()));
  }
  const double limit = largest_of(statistics);
  for (const float largest : message.largest()) {
    const auto magnitude = static_cast<double>(largest);
    if (magnitude >= 0 && magnitude <= limit && !std::signbit(largest)) continue;
    throw Error(ErrorKind::Input,
                fmt::format("{}: channels have a magnitude of {}, expected 0 to {}", where, largest,
                            limit));
  }
  return ChannelMaxima::from({message.largest().begin(), message.largest().end()},
                             message.is_ragged());
}

/// No mean lies beyond the largest magnitude, but for what float64 sums of single samples were
/// rounded.
void check_means(const ChannelSums& sums, const TensorStatistics& statistics,
                 const std::string& where) {
  const auto means = sums.means();
  if (!means) return;
  constexpr double kRounding = 1e-6, kUnit = 0x1p-40;
  const double largest = largest_of(statistics);
  for (const double mean : *means) {
    if (std::abs(mean) <= largest * (1 + kRounding) + kUnit) continue;
    throw Error(ErrorKind::Input, fmt::format("{}: channels have a mean of {}, expected at most {}",
                                              where, mean, largest));
  }
}

}  // namespace

void encode_channels(const TableChannels& channels, ChannelSumsProto& out) {
  out.set_axis(channels.axis);
  out.set_is_ragged(channels.sums.is_ragged());
  out.set_values_per_channel(channels.sums.values_per_channel());
  for (const ChannelSums::Words& words : channels.sums.words()) {
    out.add_high(words.high);
    out.add_low(words.low);
  }
  out.set_has_largest(channels.maxima.has_value());
  if (channels.maxima) {
    for (const float largest : channels.maxima->maxima()) out.add_largest(largest);
  }
  if (channels.moments) encode_moments(*channels.moments, *out.mutable_moments());
  encode_windows(channels.windows, out);
}

TableChannels decode_channels(const ChannelSumsProto& message, const TensorStatistics& statistics,
                              const std::string& where) {
  check_counts(message, statistics, where);
  std::vector<ChannelSums::Words> words;
  words.reserve(static_cast<std::size_t>(message.high_size()));
  for (int i = 0; i < message.high_size(); ++i) words.push_back({message.high(i), message.low(i)});
  TableChannels out{message.axis(),
                    ChannelSums::from(words, message.values_per_channel(), message.is_ragged()),
                    {},
                    {},
                    {}};
  check_means(out.sums, statistics, where);
  if (message.has_largest()) out.maxima = decode_maxima(message, statistics, where);
  if (message.has_moments()) {
    const MomentsForm form{.length = words.size(), .is_ragged = message.is_ragged()};
    out.moments = decode_moments(message.moments(), form, statistics, where);
  }
  out.windows = decode_windows(message, statistics, where);
  return out;
}

}  // namespace qtool
