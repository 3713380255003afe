#pragma once

#include <span>
#include <string_view>

#include "config/config.h"
#include "model/element_type.h"

namespace qtool {

/// Which weights a target takes with one scale per output channel.
enum class ChannelScales {
  Anywhere,
  Convolutions,  ///< of Conv and ConvTranspose alone, and symmetric
  Nowhere,
};

/// What a target asks of a quantized model (docs/presets.md has the reasons and the sources).
struct TargetRules {
  Preset preset;
  std::span<const ElementType> activations;
  bool has_symmetric_activations = false;  ///< zero points 0
  std::span<const ElementType> weights;
  bool has_symmetric_weights = true;
  ChannelScales channel_scales = ChannelScales::Anywhere;
  bool takes_integer_biases = true;
  bool takes_integer_operators = true;  ///< QLinearConv and its like
  bool runs_floats = true;              ///< operators without quantized inputs
};

/// Preset `onnxruntime` has the rules of `cpu`: ONNX Runtime runs what it makes.
const TargetRules& rules_of(Preset preset);

}  // namespace qtool
