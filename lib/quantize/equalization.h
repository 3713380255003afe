#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "model/model.h"
#include "quantize/op_rules.h"

namespace qtool {

/// Whether weights are equalized: as `quantization.algorithms` says, or, where it says nothing,
/// where the placement leaves layers in float whose weight one scale is too coarse for.
bool equalizes_layers(const QuantizationConfig& config, const Placement& placement);

/// A weight whose factors by channel went into the layer behind.
struct EqualizedWeight {
  std::string name;
  std::string into;                              ///< the weight behind
  double sqnr_before_db = 0, sqnr_after_db = 0;  ///< median_sqnr_db under one scale
};

/// Cross-layer equalization (Nagel et al., "Data-Free Quantization Through Weight Equalization and
/// Bias Correction", 2019): divides the output channels of a weight that one scale is too coarse
/// for (weight_noise.h) by factors, its bias too, and multiplies the input channels of the layer
/// behind by the same; between them only stand operators that commute with positive factors.
/// Factors are powers of two, so that the model's outputs stay what they are to the bit. Done where
/// it makes one scale fine enough, and does not make it too coarse for the layer behind. The values
/// in between are others now, and so get other names. Returns what was done, in graph order.
std::vector<EqualizedWeight> equalize_layers(Model& model, const QuantizationConfig& config,
                                             const Placement& placement);

}  // namespace qtool
