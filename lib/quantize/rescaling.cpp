#include "quantize/rescaling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "model/scalar_constant.h"
#include "quantize/params.h"

namespace qtool {
namespace {

/// How far from a whole number of steps float32 arithmetic may be.
constexpr double kWhole = 1e-3;
/// How much coarser a scale may become for a node less.
constexpr double kCoarser = 1.1;

std::optional<double> number_at(const NodeContext& context, int slot) {
  const std::string& name = context.node.input(slot);
  const onnx::TensorProto* constant = context.graph.initializer(name);
  if (!constant || element_type(*constant) != ElementType::Float) return std::nullopt;
  const auto shape = context.graph.shape_of(context.node.input(1 - slot));
  const std::size_t rank = shape ? shape->size() : 0;
  if (static_cast<std::size_t>(constant->dims_size()) > rank) return std::nullopt;
  return scalar_constant(context.model, context.graph, name);
}

bool is_usable(double scale) {
  return scale >= std::numeric_limits<float>::min() && scale <= std::numeric_limits<float>::max();
}

bool has_one_scale(const QuantParams& params) {
  return !params.axis && params.scales.size() == 1 && params.zero_points.size() == 1 &&
         params.scale_type == ElementType::Float && !is_float8(params.type);
}

}  // namespace

std::optional<Rescaling> rescaling_at(const NodeContext& context) {
  const auto& node = context.node;
  const std::string& type = node.op_type();
  if (node.input_size() != 2 || !is_default_domain(node.domain())) return std::nullopt;
  const bool is_commutative = type == "Mul" || type == "Add";
  if (!is_commutative && type != "Div" && type != "Sub") return std::nullopt;
  const int slot = is_commutative && context.graph.initializer(node.input(0)) ? 1 : 0;
  if (context.graph.initializer(node.input(slot)) ||
      context.graph.type_of(node.input(slot)) != ElementType::Float)
    return std::nullopt;
  const auto number = number_at(context, 1 - slot);
  if (!number || !std::isfinite(*number)) return std::nullopt;
  if (type == "Add" || type == "Sub")
    return Rescaling{.slot = slot, .offset = type == "Add" ? *number : -*number};
  if (*number <= 0) return std::nullopt;
  return Rescaling{.slot = slot, .factor = type == "Mul" ? *number : 1 / *number};
}

std::optional<QuantParams> rescaled(const QuantParams& params, const Rescaling& rescaling) {
  if (!has_one_scale(params)) return std::nullopt;
  const double scale = params.scales.front() * rescaling.factor;
  const double steps = rescaling.offset / scale;
  const double zero_point = params.zero_points.front() - std::nearbyint(steps);
  const IntegerRange range = full_range(params.type);
  const bool is_whole = std::abs(steps - std::nearbyint(steps)) <= kWhole;
  if (!is_usable(scale) || !is_whole || zero_point < range.min || zero_point > range.max)
    return std::nullopt;
  QuantParams out = params;
  out.scales = {static_cast<float>(scale)};
  out.zero_points = {static_cast<std::int32_t>(zero_point)};
  return out;
}

std::optional<QuantParams> with_whole_offset(const QuantParams& params, const Range& range,
                                             double offset) {
  if (!has_one_scale(params) || offset == 0 || !std::isfinite(offset)) return std::nullopt;
  // Zero before and behind the offset is exact, as everywhere.
  const double low = std::min({double{range.min}, 0.0, -offset});
  const double high = std::max({double{range.max}, 0.0, -offset});
  const IntegerRange all = full_range(params.type);
  const double finest = (high - low) / (static_cast<double>(all.max) - all.min);
  const double steps = std::floor(std::abs(offset) / finest);
  if (steps < 1) return std::nullopt;
  const double scale = std::abs(offset) / steps;
  if (!is_usable(scale) || scale > kCoarser * params.scales.front()) return std::nullopt;
  QuantParams out = params;
  out.scales = {static_cast<float>(scale)};
  const double zero_point = std::nearbyint(all.min - low / scale);
  out.zero_points = {static_cast<std::int32_t>(
      std::clamp(zero_point, static_cast<double>(all.min), static_cast<double>(all.max)))};
  return rescaled(out, {.offset = offset}) ? std::optional(out) : std::nullopt;
}

}  // namespace qtool
