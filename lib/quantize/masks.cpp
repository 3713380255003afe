#include "quantize/masks.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "kernels/min_max.h"
#include "quantize/params.h"

namespace qtool {
namespace {

/// Masks begin at -10000, to which some add what they mask.
constexpr float kLeastMask = 5000;

std::string obstacle(float low) {
  return fmt::format("holds a mask: beside {:g} all other values would become 0", low);
}

bool may_hold_mask(float low, const QuantParams& params) {
  return low <= -kLeastMask && !is_float8(params.type) && params.scales.size() == 1;
}

bool becomes_zero(float value, const QuantParams& params) {
  return value != 0 && std::abs(value) < params.scales.front() / 2;
}

}  // namespace

std::string obstacle_by_mask(const Range& range, const QuantParams& params) {
  const bool is_lost =
      may_hold_mask(range.min, params) && range.max > 0 && becomes_zero(range.max, params);
  return is_lost ? obstacle(range.min) : "";
}

std::string obstacle_by_mask(std::span<const float> values, const QuantParams& params) {
  const float low = kernels::min_max(values).min;
  if (!may_hold_mask(low, params)) return "";
  const auto is_lost = [&](float value) { return becomes_zero(value, params); };
  return std::ranges::any_of(values, is_lost) ? obstacle(low) : "";
}

}  // namespace qtool
