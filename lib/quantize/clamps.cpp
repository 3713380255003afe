#include "quantize/clamps.h"

#include <limits>
#include <optional>

#include "quantize/params.h"

namespace qtool {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The value of a Clip bound, `fallback` where it is absent, nothing where it is computed.
std::optional<float> clip_bound(const NodeContext& clip, int slot, const char* attribute,
                                float fallback) {
  const auto& node = clip.node;
  if (clip.opset < 11) return float_attribute(node, attribute, fallback);
  if (node.input_size() <= slot || node.input(slot).empty()) return fallback;
  const onnx::TensorProto* bound = clip.graph.initializer(node.input(slot));
  if (!bound || element_type(*bound) != ElementType::Float || element_count(*bound) != 1) {
    return std::nullopt;
  }
  return to_float32(clip.model.tensor(*bound)).front();
}

}  // namespace

bool quantizer_clamps(const NodeContext& clamp, const QuantParams& params) {
  const bool is_clip = clamp.node.op_type() == "Clip";
  const auto low = is_clip ? clip_bound(clamp, 1, "min", -kInfinity) : std::optional(0.0F);
  const auto high = is_clip ? clip_bound(clamp, 2, "max", kInfinity) : std::optional(kInfinity);
  if (!low || !high) return false;
  const ScaleAndZero single{params.scales.front(), params.zero_points.front()};
  const IntegerRange full = full_range(params.type);
  return quantize_value(*low, single, params.type) == full.min &&
         quantize_value(*high, single, params.type) == full.max;
}

}  // namespace qtool
