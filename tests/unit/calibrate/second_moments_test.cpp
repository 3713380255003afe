#include "calibrate/second_moments.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "catch.h"

namespace qtool {
namespace {

using Shape = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

SecondMoments moments_of(MomentsKind kind, const std::vector<float>& values, const Shape& shape,
                         std::int64_t axis) {
  SecondMoments out(kind);
  if (const auto sample = sample_moments(kind, values, shape, axis)) out.add(*sample);
  return out;
}

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> out(count);
  for (float& value : out) value = normal(random);
  return out;
}

/// The definition: rows are the positions before and behind the channel axis.
Doubles upper_triangle(const std::vector<float>& values, std::size_t outer, std::size_t channels,
                       std::size_t inner) {
  Doubles out;
  for (std::size_t i = 0; i < channels; ++i) {
    for (std::size_t j = i; j < channels; ++j) {
      double sum = 0;
      for (std::size_t o = 0; o < outer; ++o) {
        for (std::size_t k = 0; k < inner; ++k) {
          sum += static_cast<double>(values[(o * channels + i) * inner + k]) *
                 static_cast<double>(values[(o * channels + j) * inner + k]);
        }
      }
      out.push_back(sum);
    }
  }
  return out;
}

}  // namespace

TEST_CASE("second moments: the diagonal are the sums of squares of each channel", "[calibrate]") {
  const SecondMoments moments =
      moments_of(MomentsKind::Diagonal, {1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2}, 1);
  CHECK(moments.values() == Doubles{1 + 4 + 25 + 36, 9 + 16 + 49 + 64});
  CHECK(moments.row_count() == 4);
  CHECK(moments_of(MomentsKind::Diagonal, {1, 2, 3, 4}, {2, 2}, 0).values() == Doubles{5, 25});
}

TEST_CASE("second moments: the matrix is that of its definition, bit for bit but the unit",
          "[calibrate]") {
  for (const std::size_t rows : {1U, 7U, 8U, 9U, 30U}) {
    for (const std::size_t channels : {1U, 2U, 5U}) {
      CAPTURE(rows, channels);
      const auto values = random_values(rows * channels, static_cast<unsigned>(rows));
      const Shape last = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(channels)};
      const Doubles wanted = upper_triangle(values, rows, channels, 1);
      const auto sample = sample_moments(MomentsKind::Full, values, last, -1);
      CHECK(sample->sums == wanted);
      const Doubles found = moments_of(MomentsKind::Full, values, last, -1).values();
      for (std::size_t i = 0; i < wanted.size(); ++i)
        CHECK(std::abs(found[i] - wanted[i]) <= 0x1p-53);
    }
  }
  const auto values = random_values(3 * 4 * 5, 1);
  CHECK(sample_moments(MomentsKind::Full, values, Shape{3, 4, 5}, 1)->sums ==
        upper_triangle(values, 3, 4, 5));
}

TEST_CASE("second moments: the diagonal of the matrix", "[calibrate]") {
  const SecondMoments full = moments_of(MomentsKind::Full, {1, 2, 3, 4, 5, 6}, {2, 3}, 1);
  CHECK(full.values() == Doubles{17, 22, 27, 29, 36, 45});
  CHECK(full.diagonal() == Doubles{17, 29, 45});
  CHECK(moments_of(MomentsKind::Full, {}, {0, 3}, 1).diagonal().empty());
}

TEST_CASE("second moments: no order and no grouping of the samples makes a difference",
          "[calibrate]") {
  for (const auto kind : {MomentsKind::Diagonal, MomentsKind::Full}) {
    std::vector<SampleMoments> samples;
    for (unsigned seed = 0; seed < 40; ++seed)
      samples.push_back(*sample_moments(kind, random_values(12, seed), Shape{4, 3}, 1));
    SecondMoments one(kind);
    for (const auto& sample : samples) one.add(sample);
    std::ranges::shuffle(samples, std::mt19937(3));
    SecondMoments left(kind), right(kind);
    for (std::size_t i = 0; i < samples.size(); ++i) (i % 3 == 0 ? left : right).add(samples[i]);
    right.merge(left);
    right.merge(SecondMoments(kind));
    CHECK(right == one);
    CHECK(right.row_count() == 160);
  }
}

TEST_CASE("second moments: a sample that is not finite is left out, ragged ones have none",
          "[calibrate]") {
  const float infinity = std::numeric_limits<float>::infinity();
  SecondMoments moments = moments_of(MomentsKind::Full, {infinity, 1}, {1, 2}, 1);
  CHECK(moments.values() == Doubles{0, 0, 0});
  CHECK(moments.row_count() == 0);
  moments.add(*sample_moments(MomentsKind::Full, std::vector<float>{1, 2, 3}, Shape{1, 3}, 1));
  CHECK(moments.is_ragged());
  CHECK(moments.values().empty());
  CHECK(moments.words().empty());
}

TEST_CASE("second moments come back from their words", "[calibrate]") {
  const SecondMoments moments = moments_of(MomentsKind::Full, random_values(20, 5), {4, 5}, 1);
  CHECK(SecondMoments::from(MomentsKind::Full, moments.words(), 4, false) == moments);
}

TEST_CASE("second moments: how much room they take", "[calibrate]") {
  CHECK(moment_bytes(MomentsKind::Diagonal, 4096) == 65536);
  CHECK(moment_bytes(MomentsKind::Full, 4096) == 134250496);
}

}  // namespace qtool
