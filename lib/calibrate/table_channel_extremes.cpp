#include "calibrate/table_channel_extremes.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "calibrate/table.pb.h"

namespace qtool {
namespace {

using kernels::MinMax;

/// What stands for a channel without a finite value: min and max of it with any other are those of
/// the other.
constexpr float kInfinity = std::numeric_limits<float>::infinity();

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::Input, where + ": extremes of channels " + what);
}

void check_counts(const ChannelExtremesProto& message, const TensorStatistics& statistics,
                  const std::string& where) {
  if (message.minima_size() != message.maxima_size()) {
    refuse(where, fmt::format("have {} minima and {} maxima, expected as many",
                              message.minima_size(), message.maxima_size()));
  }
  const auto count = static_cast<std::uint64_t>(message.minima_size());
  const std::uint64_t values = statistics.value_count + statistics.nonfinite_count;
  if (message.is_ragged() && count > 0) refuse(where, "differ in number, expected none");
  if (count > values)
    refuse(where, fmt::format("are {}, expected at most {}, the values", count, values));
}

/// Together they are the tensor's.
void check_ends(const std::vector<MinMax>& channels, const TensorStatistics& statistics,
                const std::string& where) {
  MinMax all{.min = kInfinity, .max = -kInfinity};
  for (const MinMax& channel : channels) {
    if (channel.finite_count == 0) continue;
    if (!(channel.min <= channel.max))
      refuse(where, fmt::format("are {} and {}, expected a range", channel.min, channel.max));
    all.min = std::min(all.min, channel.min);
    all.max = std::max(all.max, channel.max);
  }
  const bool has_values = statistics.value_count > 0;
  const float min = has_values ? statistics.min.value : kInfinity;
  const float max = has_values ? statistics.max.value : -kInfinity;
  if (all.min == min && all.max == max) return;
  refuse(where, fmt::format("reach from {} to {}, expected those of the tensor, {} and {}", all.min,
                            all.max, min, max));
}

}  // namespace

void encode_channel_extremes(const ChannelExtremes& extremes, ChannelExtremesProto& out) {
  out.set_is_ragged(extremes.is_ragged());
  if (extremes.is_ragged()) return;
  for (const MinMax& channel : extremes.channels()) {
    const bool has_values = channel.finite_count > 0;
    out.add_minima(has_values ? channel.min : kInfinity);
    out.add_maxima(has_values ? channel.max : -kInfinity);
  }
}

ChannelExtremes decode_channel_extremes(const ChannelExtremesProto& message,
                                        const TensorStatistics& statistics,
                                        const std::string& where) {
  check_counts(message, statistics, where);
  std::vector<MinMax> channels;
  for (int i = 0; i < message.minima_size(); ++i) {
    const bool is_empty = message.minima(i) == kInfinity && message.maxima(i) == -kInfinity;
    channels.push_back(
        is_empty ? MinMax{}
                 : MinMax{.min = message.minima(i), .max = message.maxima(i), .finite_count = 1});
  }
  if (!message.is_ragged()) check_ends(channels, statistics, where);
  return ChannelExtremes::from(std::move(channels), message.is_ragged());
}

}  // namespace qtool
