#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/peer_histogram.h"

namespace qtool {

inline float peer_value(const std::string& shape, std::uint64_t state) {
  const auto whole = static_cast<std::int64_t>(state >> 40) - (1 << 23);
  const double x = std::ldexp(static_cast<double>(whole), -23);
  if (shape == "squared") return static_cast<float>(x * std::abs(x));
  if (shape == "scattered")
    return static_cast<float>(std::ldexp(x, -static_cast<int>((state >> 20) % 12)));
  if (shape == "positive") return static_cast<float>(std::abs(x) + 0.25);
  if (shape == "sparse") return static_cast<float>((whole % 7 + 7) % 7) * 0.5F - 1.0F;
  if (shape == "constant") return 3.0F;
  return static_cast<float>(x);
}

/// The values that tests/oracle/peer_histograms.py gave to ONNX Runtime.
inline std::vector<float> peer_values(const std::string& shape, std::uint64_t seed,
                                      std::size_t count) {
  std::vector<float> out(count);
  std::uint64_t state = seed;
  for (float& value : out) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = peer_value(shape, state);
  }
  return out;
}

inline PeerExtremes extremes_of(const std::vector<float>& values) {
  std::vector<float> magnitudes(values.size());
  std::transform(values.begin(), values.end(), magnitudes.begin(),
                 [](float value) { return std::abs(value); });
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const auto [least, most] = std::minmax_element(magnitudes.begin(), magnitudes.end());
  return {*low, *high, *least, *most};
}

}  // namespace qtool
