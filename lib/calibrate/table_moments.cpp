#include "calibrate/table_moments.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "calibrate/table.pb.h"

namespace qtool {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::Input, where + ": second moments " + what);
}

void check_counts(const SecondMomentsProto& message, std::uint64_t channel_count, bool is_ragged,
                  const TensorStatistics& statistics, const std::string& where) {
  const auto high = static_cast<std::uint64_t>(message.high_size());
  const auto low = static_cast<std::uint64_t>(message.low_size());
  if (high != low)
    refuse(where, fmt::format("have {} upper and {} lower halves, expected as many", high, low));
  const MomentsKind kind = message.is_full() ? MomentsKind::Full : MomentsKind::Diagonal;
  const std::uint64_t expected = is_ragged ? 0 : moment_count(kind, channel_count);
  if (high != expected) refuse(where, fmt::format("have {} sums, expected {}", high, expected));
  const auto values = checked_mul(channel_count, std::uint64_t{message.row_count()});
  if ((is_ragged && message.row_count() > 0) || !values || *values > statistics.value_count) {
    refuse(where, fmt::format("have {} rows of {} channels, expected at most {} values",
                              message.row_count(), channel_count, statistics.value_count));
  }
}

/// No product is beyond the square of the largest magnitude, but for what the sums of single
/// samples were rounded.
void check_sums(const SecondMoments& moments, const TensorStatistics& statistics,
                const std::string& where) {
  constexpr double kRounding = 1e-6, kUnit = 0x1p-52;
  const double largest = std::max(std::abs(static_cast<double>(statistics.min.value)),
                                  std::abs(static_cast<double>(statistics.max.value)));
  const double limit =
      static_cast<double>(moments.row_count()) * (largest * largest * (1 + kRounding) + kUnit);
  for (const double sum : moments.values()) {
    if (std::abs(sum) > limit)
      refuse(where, fmt::format("have a sum of {}, expected at most {}", sum, limit));
  }
  for (const double sum : moments.diagonal()) {
    if (sum < 0)
      refuse(where, fmt::format("have a sum of squares of {}, expected none below 0", sum));
  }
}

}  // namespace

void encode_moments(const SecondMoments& moments, SecondMomentsProto& out) {
  out.set_is_full(moments.kind() == MomentsKind::Full);
  out.set_row_count(moments.row_count());
  for (const SecondMoments::Words& words : moments.words()) {
    out.add_high(words.high);
    out.add_low(words.low);
  }
}

SecondMoments decode_moments(const SecondMomentsProto& message, std::uint64_t channel_count,
                             bool is_ragged, const TensorStatistics& statistics,
                             const std::string& where) {
  check_counts(message, channel_count, is_ragged, statistics, where);
  std::vector<SecondMoments::Words> words;
  words.reserve(static_cast<std::size_t>(message.high_size()));
  for (int i = 0; i < message.high_size(); ++i) words.push_back({message.high(i), message.low(i)});
  const MomentsKind kind = message.is_full() ? MomentsKind::Full : MomentsKind::Diagonal;
  SecondMoments out = SecondMoments::from(kind, words, message.row_count(), is_ragged);
  check_sums(out, statistics, where);
  return out;
}

}  // namespace qtool
