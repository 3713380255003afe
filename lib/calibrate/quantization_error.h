#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "calibrate/density.h"
#include "calibrate/linear_grid.h"

namespace qtool {

/// Mean of |x - dequantize(quantize(x))|^power over the values of a density, as a function of the
/// grid (docs/numerics.md, "Least quantization error"). Built once per tensor; then a grid costs a
/// microsecond or few.
class QuantizationError {
 public:
  /// Needs a value in `density` and a positive `power`.
  QuantizationError(const Density& density, double power);

  double operator()(const LinearGrid& grid) const;

 private:
  static constexpr std::size_t kTableSteps = 1024;

  void add_bins(const std::vector<DensityBin>& bins);
  void add_edge(double edge, double density_above);
  double rounding_integral(double x) const;
  double clipping_integral(double distance) const;
  double error_at(double x, const LinearGrid& grid) const;

  double power_;
  double total_ = 0;
  std::vector<double> edges_;
  /// Density below an edge minus density above it: the sum of these times an antiderivative of the
  /// error at the edges is the integral of density times error.
  std::vector<double> steps_;
  double density_above_last_edge_ = 0;
  std::vector<DensityBin> points_;                  ///< bins of no width
  std::array<double, kTableSteps + 2> rounding_{};  ///< integral of u^power from 0 to i / 2048
};

}  // namespace qtool
