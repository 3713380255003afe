#include "calibrate/second_moments.h"

#include <algorithm>

#include "model/channel_layout.h"

namespace qtool {
namespace {

using kernels::Channels;

/// Rows that one pass over the matrix takes up: it is read and written once for all of them.
constexpr std::size_t kRows = 8;

void add_squares(std::span<const float> values, Channels channels, std::span<double> out) {
  const float* value = values.data();
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    for (double& sum : out) {
      for (std::size_t i = 0; i < channels.inner; ++i, ++value)
        sum += static_cast<double>(*value) * static_cast<double>(*value);
    }
  }
}

/// Adds the products of `kRows` rows of `count` channels to the upper triangle. Products of two
/// float32 are exact in float64, and each sum takes the rows in their order.
void add_products(const std::vector<double>& rows, std::size_t count, std::span<double> out) {
  double* line = out.data();
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = rows.data() + i;
    for (std::size_t j = 0; j < count - i; ++j) {
      double sum = line[j];
      for (std::size_t r = 0; r < kRows; ++r) sum += row[r * count] * row[r * count + j];
      line[j] = sum;
    }
    line += count - i;
  }
}

void add_matrix(std::span<const float> values, Channels channels, std::span<double> out) {
  const std::size_t row_count = channels.outer * channels.inner;
  std::vector<double> rows(kRows * channels.count);
  for (std::size_t first = 0; first < row_count; first += kRows) {
    // Behind the last row stand zeros.
    std::ranges::fill(rows, 0.0);
    for (std::size_t r = 0; r < std::min(kRows, row_count - first); ++r) {
      const std::size_t outer = (first + r) / channels.inner, inner = (first + r) % channels.inner;
      const float* value = values.data() + outer * channels.count * channels.inner + inner;
      for (std::size_t c = 0; c < channels.count; ++c)
        rows[r * channels.count + c] = static_cast<double>(value[c * channels.inner]);
    }
    add_products(rows, channels.count, out);
  }
}

}  // namespace

std::string moments_name(MomentsKind kind) {
  return kind == MomentsKind::Full ? "full" : "diagonal";
}

std::uint64_t moment_count(MomentsKind kind, std::uint64_t channels) {
  return kind == MomentsKind::Diagonal ? channels : channels * (channels + 1) / 2;
}

std::uint64_t moment_bytes(MomentsKind kind, std::uint64_t channels) {
  return moment_count(kind, channels) * sizeof(FixedSums::Words);
}

std::optional<SampleMoments> sample_moments(MomentsKind kind, std::span<const float> values,
                                            std::span<const std::int64_t> shape,
                                            std::int64_t axis) {
  const auto channels = channel_layout(shape, axis);
  if (values.empty() || !channels) return std::nullopt;
  SampleMoments out{channels->count, channels->outer * channels->inner,
                    std::vector<double>(moment_count(kind, channels->count))};
  if (kind == MomentsKind::Diagonal)
    add_squares(values, *channels, out.sums);
  else
    add_matrix(values, *channels, out.sums);
  return out;
}

void SecondMoments::add(const SampleMoments& sample) {
  if (!set_size(sample.sums.size()) || !sums_.takes(sample.sums)) return;
  sums_.add(sample.sums);
  row_count_ += sample.row_count;
}

void SecondMoments::merge(const SecondMoments& other) {
  is_ragged_ = is_ragged_ || other.is_ragged_;
  if (other.sums_.empty() || !set_size(other.sums_.size())) return;
  sums_.add(other.sums_);
  row_count_ += other.row_count_;
}

/// False where an earlier sample had another number of channels; then there is nothing to keep.
bool SecondMoments::set_size(std::size_t size) {
  if (sums_.empty()) sums_.resize(size);
  is_ragged_ = is_ragged_ || sums_.size() != size;
  return !is_ragged_;
}

std::vector<double> SecondMoments::values() const {
  return is_ragged_ ? std::vector<double>{} : sums_.values();
}

std::vector<double> SecondMoments::diagonal() const {
  std::vector<double> all = values();
  if (kind_ == MomentsKind::Diagonal) return all;
  std::vector<double> out;
  std::size_t channels = 0;
  while (moment_count(kind_, channels) < all.size()) ++channels;
  for (std::size_t at = 0, line = channels; line > 0; at += line--) out.push_back(all[at]);
  return out;
}

std::vector<SecondMoments::Words> SecondMoments::words() const {
  return is_ragged_ ? std::vector<Words>{} : sums_.words();
}

SecondMoments SecondMoments::from(MomentsKind kind, std::span<const Words> words,
                                  std::uint64_t row_count, bool is_ragged) {
  SecondMoments out(kind);
  out.sums_ = FixedSums::from(words, kFractionBits);
  out.row_count_ = row_count;
  out.is_ragged_ = is_ragged;
  return out;
}

}  // namespace qtool
