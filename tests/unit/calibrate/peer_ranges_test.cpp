#include "calibrate/peer_ranges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "peer_expected.h"
#include "peer_values.h"

namespace qtool {
namespace {

/// The values arrive in three batches, two of them on another thread.
PeerHistogram histogram_of(const std::vector<float>& values, PeerHistogram::Of of,
                           std::size_t bins) {
  PeerHistogram out(extremes_of(values), of, bins);
  PeerHistogram other = out;
  const std::span<const float> all(values);
  out.observe(all.first(100));
  other.observe(all.subspan(100, 200));
  other.observe(all.subspan(300));
  out.merge(other);
  return out;
}

std::int64_t places(const PeerHistogram& histogram) {
  std::int64_t out = 0;
  std::int64_t place = 0;
  for (const std::int64_t count : histogram.counts()) out += count * ++place;
  return out;
}

std::uint64_t edge_bits(const PeerHistogram& histogram) {
  std::uint64_t out = 0;
  for (const float edge : histogram.edges()) out += std::bit_cast<std::uint32_t>(edge);
  return out;
}

}  // namespace

TEST_CASE("peer histogram: edges, counts and ranges are those of onnxruntime.quantization",
          "[calibrate]") {
  for (const PeerCase& c : kPeerCases) {
    CAPTURE(std::string(c.shape), c.is_entropy, c.is_symmetric, c.bins, c.levels, c.percentile);
    CalibrationConfig config;
    config.symmetric = c.is_symmetric;
    config.percentile = c.percentile;
    config.num_bins = c.bins;
    config.num_quantized_bins = c.levels;
    const auto of = c.is_symmetric ? PeerHistogram::Of::Magnitudes : PeerHistogram::Of::Values;
    const auto histogram =
        histogram_of(peer_values(c.shape, c.seed, c.count), of, static_cast<std::size_t>(c.bins));
    CHECK(places(histogram) == c.places);
    CHECK(edge_bits(histogram) == c.edge_bits);
    const auto range = c.is_entropy ? peer_entropy_range(histogram, config)
                                    : peer_percentile_range(histogram, config);
    CHECK(range == Range{c.low, c.high});
  }
}

TEST_CASE("peer histogram: a tensor of zeros has the range of its zeros", "[calibrate]") {
  const std::vector<float> zeros(400, 0.0F);
  CalibrationConfig config;
  CHECK(peer_percentile_range(histogram_of(zeros, PeerHistogram::Of::Values, 2048), config) ==
        Range{0, 0});
  CHECK(peer_entropy_range(histogram_of(zeros, PeerHistogram::Of::Values, 2048), config) ==
        Range{0, 0});
}

TEST_CASE("peer histogram: the largest floats have bins", "[calibrate]") {
  constexpr float kMost = std::numeric_limits<float>::max();
  const std::vector<float> values(400, -kMost);
  const PeerHistogram histogram = histogram_of(values, PeerHistogram::Of::Values, 4);
  CHECK(histogram.edges()[2] == 0);
  CHECK(histogram.counts()[0] == 400);
}

TEST_CASE("peer histogram: NaN and infinities count for nothing, no value has no range",
          "[calibrate]") {
  PeerHistogram histogram({-1, 1, 0, 1}, PeerHistogram::Of::Values, 128);
  histogram.observe(std::vector<float>{NAN, INFINITY, -INFINITY});
  CHECK(std::ranges::count(histogram.counts(), 0) == 128);
  CHECK_FALSE(peer_percentile_range(histogram, {}).has_value());
  CHECK_FALSE(peer_entropy_range(histogram, {}).has_value());
}

}  // namespace qtool
