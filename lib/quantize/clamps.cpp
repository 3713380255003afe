#include "quantize/clamps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "model/scalar_constant.h"
#include "quantize/params.h"

namespace qtool {
namespace {

constexpr double kFloat16Epsilon = 0x1p-10;
/// A little more than half, so that a tie does not hang on the rounding of the scale.
constexpr double kHalfStep = 0.50001;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The value of a Clip bound, `fallback` where it is absent, nothing where it is computed.
std::optional<float> clip_bound(const NodeContext& clip, int slot, const char* attribute,
                                float fallback) {
  const auto& node = clip.node;
  if (clip.opset < 11) return float_attribute(node, attribute, fallback);
  if (node.input_size() <= slot || node.input(slot).empty()) return fallback;
  return scalar_constant(clip.model, clip.graph, node.input(slot));
}

}  // namespace

std::optional<Range> bounds_of_clamp(const NodeContext& clamp) {
  if (clamp.node.op_type() != "Clip") return Range{0, kInfinity};
  const auto low = clip_bound(clamp, 1, "min", -kInfinity);
  const auto high = clip_bound(clamp, 2, "max", kInfinity);
  if (!low || !high) return std::nullopt;
  return Range{*low, *high};
}

bool quantizer_clamps(const NodeContext& clamp, const QuantParams& params) {
  const auto bounds = bounds_of_clamp(clamp);
  if (!bounds) return false;
  const IntegerRange full = full_range(params.type);
  const double scale = params.scales.front();
  const double lowest = scale * (full.min - params.zero_points.front());
  const double highest = scale * (full.max - params.zero_points.front());
  // Half a step beyond rounds to the bound; and in float16 the bound itself is no more exact.
  const double precision = params.scale_type == ElementType::Float16 ? kFloat16Epsilon : 0;
  const double slack = std::max(kHalfStep * scale, precision * std::max(std::abs(lowest), highest));
  return lowest >= bounds->min - slack && highest <= bounds->max + slack;
}

}  // namespace qtool
