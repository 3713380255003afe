#pragma once

#include <optional>

#include "calibrate/density.h"

namespace qtool {

/// Mean and standard deviation of values.
struct Spread {
  double average = 0;
  double deviation = 0;
};

/// Which values float8 quantization takes the spread of.
enum class SpreadOf {
  Values,     ///< scenario "same" of onnxruntime.quantization
  CubeRoots,  ///< scenario "p3": the signed cube roots of the values
};

/// Spread of all values of `density`; integrals over the bins, so that it does not depend on where
/// their centres are. Nothing for a tensor without a value.
std::optional<Spread> spread(const Density& density, SpreadOf of);

}  // namespace qtool
