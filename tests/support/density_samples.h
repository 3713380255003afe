#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "calibrate/sketch.h"

namespace qtool::testing {

/// The density that calibration keeps of `values`.
inline Density density_of(const std::vector<float>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  Sketch sketch;
  const std::uint64_t zeros = sketch.add(values, std::max(std::abs(*low), std::abs(*high)));
  return qtool::density_of(sketch.top(), sketch.entries(), zeros, *low, *high);
}

/// The range that a method gives; fails the test where it gives none.
template <typename Result>
Result given(const std::optional<Result>& result) {
  if (!result) throw std::runtime_error("no range");
  return *result;
}

struct NamedValues {
  std::string name;
  std::vector<float> values;
};

/// Values as activations have them: even, skewed, one sided, with far outliers, with many zeros,
/// of few distinct values.
inline std::vector<NamedValues> activation_like(std::size_t count) {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  const auto made = [&](const std::string& name, auto value) {
    NamedValues out{name, std::vector<float>(count)};
    std::generate(out.values.begin(), out.values.end(), value);
    return out;
  };
  std::vector<NamedValues> out;
  out.push_back(made("normal", [&] { return normal(random); }));
  out.push_back(made("shifted", [&] { return 3 + normal(random); }));
  out.push_back(made("negative", [&] { return -std::abs(normal(random)); }));
  out.push_back(made("relu", [&] { return std::max(0.0F, normal(random)); }));
  out.push_back(made("relu6", [&] { return std::clamp(4 * normal(random), 0.0F, 6.0F); }));
  out.push_back(made("lognormal", [&] { return std::exp(normal(random)); }));
  out.push_back(made("gelu", [&] {
    const float x = 2 * normal(random);
    return 0.5F * x * (1 + std::erf(x / 1.41421356F));
  }));
  out.push_back(made("heavy", [&] { return normal(random) / std::abs(normal(random) + 0.01F); }));
  out.push_back(made("outliers", [&] { return random() % 1000 == 0 ? 60.0F : normal(random); }));
  out.push_back(made("zeros", [&] { return random() % 2 == 0 ? 0.0F : normal(random); }));
  out.push_back(made("two", [&] { return random() % 3 == 0 ? 0.0F : 1.7F; }));
  out.push_back(made("small", [&] { return 1e-30F * normal(random); }));
  return out;
}

}  // namespace qtool::testing
