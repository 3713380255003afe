#include "calibrate/second_moments.h"

#include <algorithm>

#include "calibrate/window_rows.h"
#include "kernels/outer_products.h"
#include "model/channel_layout.h"

namespace qtool {
namespace {

using kernels::Channels;

/// Rows that one pass over the matrix takes up: it is read and written once for all of them.
constexpr std::size_t kRows = 32;

void add_squares(std::span<const float> values, Channels channels, std::span<double> out) {
  const float* value = values.data();
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    for (double& sum : out) {
      for (std::size_t i = 0; i < channels.inner; ++i, ++value)
        sum += static_cast<double>(*value) * static_cast<double>(*value);
    }
  }
}

/// Adds the products of `row_count` rows of `length` values to an upper triangle, some rows at a
/// time; `copy(first, count, rows, stride)` writes them.
template <typename Copy>
void add_matrix(std::size_t row_count, std::size_t length, std::span<double> out,
                const Copy& copy) {
  const std::size_t stride = kernels::row_stride(length);
  std::vector<double> rows(kRows * stride);
  for (std::size_t first = 0; first < row_count; first += kRows) {
    const std::size_t count = std::min(kRows, row_count - first);
    copy(first, count, rows.data(), stride);
    kernels::add_outer_products(std::span(rows).first(count * stride), length, out);
  }
}

void add_positions(std::span<const float> values, Channels channels, std::span<double> out) {
  const auto copy = [&](std::size_t first, std::size_t count, double* rows, std::size_t stride) {
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t outer = (first + r) / channels.inner, inner = (first + r) % channels.inner;
      const float* value = values.data() + outer * channels.count * channels.inner + inner;
      for (std::size_t c = 0; c < channels.count; ++c)
        rows[r * stride + c] = static_cast<double>(value[c * channels.inner]);
    }
  };
  add_matrix(channels.outer * channels.inner, channels.count, out, copy);
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
  SampleMoments out{channels->outer * channels->inner,
                    std::vector<double>(moment_count(kind, channels->count))};
  if (kind == MomentsKind::Diagonal)
    add_squares(values, *channels, out.sums);
  else
    add_positions(values, *channels, out.sums);
  return out;
}

std::optional<SampleMoments> sample_moments(const ConvWindow& window, std::span<const float> values,
                                            std::span<const std::int64_t> shape) {
  const auto rows = WindowRows::of(window, shape);
  if (values.empty() || !rows) return std::nullopt;
  const std::size_t size = moment_count(MomentsKind::Full, rows->length());
  SampleMoments out{rows->count(), std::vector<double>(rows->groups() * size)};
  for (std::size_t group = 0; group < rows->groups(); ++group) {
    const auto copy = [&](std::size_t first, std::size_t count, double* to, std::size_t stride) {
      rows->copy(values, group, first, count, to, stride);
    };
    add_matrix(rows->count(), rows->length(), std::span(out.sums).subspan(group * size, size),
               copy);
  }
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
  if (kind_ == MomentsKind::Diagonal || all.empty()) return all;
  std::vector<double> out;
  const std::size_t size = all.size() / matrix_count_, length = row_length();
  for (std::size_t matrix = 0; matrix < matrix_count_; ++matrix) {
    std::size_t at = matrix * size;
    for (std::size_t line = length; line > 0; at += line--) out.push_back(all[at]);
  }
  return out;
}

std::size_t SecondMoments::row_length() const {
  const std::size_t size = is_ragged_ ? 0 : sums_.size() / matrix_count_;
  std::size_t out = 0;
  while (moment_count(kind_, out) < size) ++out;
  return out;
}

std::vector<SecondMoments::Words> SecondMoments::words() const {
  return is_ragged_ ? std::vector<Words>{} : sums_.words();
}

SecondMoments SecondMoments::from(MomentsKind kind, std::span<const Words> words,
                                  std::uint64_t row_count, bool is_ragged,
                                  std::size_t matrix_count) {
  SecondMoments out(kind, matrix_count);
  out.sums_ = FixedSums::from(words, kFractionBits);
  out.row_count_ = row_count;
  out.is_ragged_ = is_ragged;
  return out;
}

}  // namespace qtool
