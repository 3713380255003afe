#include "calibrate/table_moments.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "calibrate/table.pb.h"

namespace qtool {
namespace {

constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::Input, where + ": second moments " + what);
}

/// Nothing where they are too many for any file.
std::optional<std::uint64_t> sum_count(MomentsKind kind, const MomentsForm& form) {
  if (form.is_ragged) return 0;
  const auto length = checked_narrow<std::uint32_t>(form.length);
  if (!length) return std::nullopt;
  return checked_mul(moment_count(kind, *length), form.matrix_count);
}

/// What is more than there can be of rows.
bool has_too_many_rows(const SecondMomentsProto& message, const MomentsForm& form,
                       const TensorStatistics& statistics) {
  if (form.is_ragged || form.length == 0) return message.row_count() > 0;
  if (form.has_windows) return message.row_count() > kMaxCount;
  const auto values = checked_mul(form.length, std::uint64_t{message.row_count()});
  return !values || *values > statistics.value_count;
}

void check_counts(const SecondMomentsProto& message, const MomentsForm& form,
                  const TensorStatistics& statistics, const std::string& where) {
  const auto high = static_cast<std::uint64_t>(message.high_size());
  const auto low = static_cast<std::uint64_t>(message.low_size());
  if (high != low)
    refuse(where, fmt::format("have {} upper and {} lower halves, expected as many", high, low));
  const MomentsKind kind = message.is_full() ? MomentsKind::Full : MomentsKind::Diagonal;
  const auto expected = sum_count(kind, form);
  if (!expected) refuse(where, fmt::format("have rows of {}, expected fewer", form.length));
  if (high != *expected) refuse(where, fmt::format("have {} sums, expected {}", high, *expected));
  if (has_too_many_rows(message, form, statistics)) {
    refuse(where, fmt::format("have {} rows of {} channels, expected at most {} values",
                              message.row_count(), form.length, statistics.value_count));
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

SecondMoments decode_moments(const SecondMomentsProto& message, const MomentsForm& form,
                             const TensorStatistics& statistics, const std::string& where) {
  check_counts(message, form, statistics, where);
  std::vector<SecondMoments::Words> words;
  words.reserve(static_cast<std::size_t>(message.high_size()));
  for (int i = 0; i < message.high_size(); ++i) words.push_back({message.high(i), message.low(i)});
  const MomentsKind kind = message.is_full() ? MomentsKind::Full : MomentsKind::Diagonal;
  SecondMoments out = SecondMoments::from(kind, words, message.row_count(), form.is_ragged,
                                          static_cast<std::size_t>(form.matrix_count));
  check_sums(out, statistics, where);
  return out;
}

}  // namespace qtool
