#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <hwy/targets.h>

#include "catch.h"

namespace qtool::kernels {

/// Calls `check` once for every instruction set that this machine has and the kernels are compiled
/// for.
template <typename Check>
void for_each_target(const Check& check) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    INFO(hwy::TargetName(target));
    check();
    hwy::SetSupportedTargetsForTest(0);
  }
}

/// Every length around the vectors (4, 8 and 16 floats) and blocks (64 vectors) of the kernels.
inline std::vector<std::size_t> lengths() {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i <= 8 * 16 + 2; ++i) out.push_back(i);
  for (const std::size_t i : {255, 256, 257, 511, 513, 1023, 1024, 1025, 1041, 2100})
    out.push_back(i);
  return out;
}

enum class Values { Normal, WithSpecial, OnlyNonfinite };

/// The same values on every machine: over many magnitudes; with denormals, zeros of both signs,
/// NaN, infinities.
inline std::vector<float> test_values(std::size_t count, Values kind, std::uint32_t seed = 1) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kSpecial[] = {kNan,    kInf,    -kInf,    0.0F, -0.0F, 1e-42F,
                                -3e-45F, 3.4e38F, -3.4e38F, 0.5F, 2.5F};
  std::mt19937 random(seed);
  std::vector<float> out(count);
  for (float& value : out) {
    const auto bits = static_cast<std::uint32_t>(random());
    const float unit = static_cast<float>(bits >> 8) / 8388608.0F - 1.0F;
    value = unit * static_cast<float>(1U << (bits % 12));
    if (kind == Values::WithSpecial && bits % 5 == 0)
      value = kSpecial[random() % std::size(kSpecial)];
    if (kind == Values::OnlyNonfinite) value = kSpecial[random() % 3];
  }
  return out;
}

/// Calls `check(span)` for every length, four starts and each kind of values.
template <typename Check>
void for_each_input(const Check& check) {
  for (const Values kind : {Values::Normal, Values::WithSpecial, Values::OnlyNonfinite}) {
    for (const std::size_t length : lengths()) {
      const auto values = test_values(length + 3, kind, static_cast<std::uint32_t>(length + 1));
      for (std::size_t start = 0; start < 4; ++start) {
        CAPTURE(static_cast<int>(kind), length, start);
        check(std::span<const float>(values).subspan(start, length));
      }
    }
  }
}

}  // namespace qtool::kernels
