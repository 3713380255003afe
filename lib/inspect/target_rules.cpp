#include "inspect/target_rules.h"

#include <algorithm>
#include <array>

namespace qtool {
namespace {

constexpr auto kBytes = std::to_array({ElementType::UInt8, ElementType::Int8});
constexpr auto kSignedBytes = std::to_array({ElementType::Int8});
constexpr auto kUnsigned = std::to_array({ElementType::UInt8, ElementType::UInt16});
constexpr auto kGpuTypes = std::to_array({ElementType::Int8, ElementType::Float8E4M3FN});

constexpr TargetRules cpu_provider(Preset preset) {
  return {.preset = preset, .activations = kBytes, .weights = kSignedBytes};
}

constexpr TargetRules kRules[] = {
    cpu_provider(Preset::Cpu),
    cpu_provider(Preset::CpuAvx2),
    cpu_provider(Preset::Arm64),
    {.preset = Preset::TensorRt,
     .activations = kGpuTypes,
     .has_symmetric_activations = true,
     .weights = kGpuTypes,
     .takes_integer_biases = false,
     .takes_integer_operators = false},
    {.preset = Preset::OpenVino,
     .activations = kBytes,
     .weights = kSignedBytes,
     .takes_integer_operators = false},
    {.preset = Preset::Qnn,
     .activations = kUnsigned,
     .weights = kBytes,
     .has_symmetric_weights = false,
     .channel_scales = ChannelScales::Convolutions,
     .takes_integer_operators = false,
     .runs_floats = false},
    {.preset = Preset::MiGraphX,
     .activations = kSignedBytes,
     .has_symmetric_activations = true,
     .weights = kSignedBytes,
     .channel_scales = ChannelScales::Nowhere,
     .takes_integer_biases = false},
};

}  // namespace

const TargetRules& rules_of(Preset preset) {
  const auto* const found = std::ranges::find(kRules, preset, &TargetRules::preset);
  return found == std::ranges::end(kRules) ? kRules[0] : *found;
}

}  // namespace qtool
