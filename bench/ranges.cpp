// What the methods of calibration cost per tensor: `qtool_bench_ranges` prints milliseconds for
// densities of a million values each.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <vector>

#include "calibrate/cumulative_count.h"
#include "calibrate/entropy.h"
#include "calibrate/least_error.h"
#include "calibrate/peer_ranges.h"
#include "calibrate/percentile.h"
#include "density_samples.h"

namespace {

using namespace qtool;

constexpr QuantizedLevels kUInt8{0, 255, 0, 255, false};
constexpr QuantizedLevels kInt8{-127, 127, -128, 127, true};

template <typename Work>
double milliseconds(const Work& work) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRuns = 20;
  const auto start = Clock::now();
  for (int i = 0; i < kRuns; ++i) work();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count() / kRuns;
}

}  // namespace

int main() {
  const CalibrationConfig config;
  fmt::print("{:10} {:>6} {:>10} {:>8} {:>9} {:>8} {:>6} {:>10}\n", "values", "bins", "percentile",
             "entropy", "mse uint8", "mse int8", "auto", "peer count");
  for (const auto& [name, values] : testing::activation_like(1000000)) {
    const Density density = testing::density_of(values);
    const auto largest = static_cast<float>(largest_magnitude(density));
    PeerHistogram histogram({density.min, density.max, 0, largest}, PeerHistogram::Of::Values,
                            2048);
    fmt::print("{:10} {:6} {:10.3f} {:8.3f} {:9.3f} {:8.3f} {:6.3f} {:10.3f}\n", name,
               density.bins.size(), milliseconds([&] { percentile_range(density, config); }),
               milliseconds([&] { entropy_range(density, config); }), milliseconds([&] {
                 mse_range(density, {kUInt8, false});
               }),
               milliseconds([&] {
                 mse_range(density, {kInt8, false});
               }),
               milliseconds([&] { auto_range(density, config, kUInt8); }),
               milliseconds([&] { histogram.observe(values); }));
  }
}
