#pragma once

#include <string_view>

namespace qtool {

/// Kinds of layers that ONNX Runtime's CPU provider has kernels of its own for.
enum class LayerKind {
  Conv,
  Pointwise,
  Depthwise,
  UnevenDepthwise,  ///< of channels that do not fill vectors of 16
  Conv1D,
  ConvTranspose,
  Product
};

struct LayerWork {
  LayerKind kind = LayerKind::Conv;
  double channels = 0;  ///< of the input that each output takes; of Product: columns
  double macs = 0;
};

// Times are CPU time on one thread of a CPU with AVX512-VNNI, measured per node of real networks
// (docs/placement.md, "Cost table").

inline constexpr double kRunUs = 2.9;                              ///< of a run, whatever the model
inline constexpr double kNodeUs = 0.53;                            ///< of a node, whatever its size
inline constexpr double kQuantizeNs = 0.093, kDequantizeNs = 0.1;  ///< per value
inline constexpr double kTransposeIntegersNs = 0.075;
inline constexpr double kReorderInputNs = 0.092, kReorderOutputNs = 0.14;
inline constexpr double kIntegerCallUs =
    1.7;  ///< besides, of an operator on integers that is no layer
inline constexpr double kChannelsFirstMaxPoolNs = 9.7;
inline constexpr double kRecurrentMacsPerUs = 14000;

double float_layer_us(const LayerWork& work);
double integer_layer_us(const LayerWork& work);
/// Of an operator that is no layer, for each value that it gives (or takes, where it reduces).
double per_value_ns(std::string_view op_type, bool is_integer);

}  // namespace qtool
