#include "calibrate/peer_spread.h"

#include <string>

#include "catch.h"
#include "density_samples.h"
#include "error_text.h"
#include "peer_expected.h"
#include "peer_values.h"

namespace qtool {

using testing::error_text;
using testing::given;

TEST_CASE("peer spread: average and deviation are those of onnxruntime.quantization",
          "[calibrate]") {
  for (const PeerSpreadCase& c : kPeerSpreadCases) {
    CAPTURE(std::string(c.shape), c.bins, c.is_of_roots);
    const auto values = peer_values(c.shape, c.seed, c.count);
    PeerHistogram histogram(extremes_of(values), PeerHistogram::Of::Values, c.bins);
    histogram.observe(values);
    const Spread found =
        given(peer_spread(histogram, c.is_of_roots ? SpreadOf::CubeRoots : SpreadOf::Values));
    if (c.is_of_roots) {
      CHECK(found.average == Approx(static_cast<double>(c.average)).epsilon(1e-6).margin(1e-7));
      // Of equal values both have the root of what rounding leaves of 0.
      const double rounding = c.deviation == 0 ? 1e-3 : 0;
      CHECK(found.deviation ==
            Approx(static_cast<double>(c.deviation)).epsilon(1e-6).margin(rounding));
    } else {
      CHECK(static_cast<float>(found.average) == c.average);
      CHECK(static_cast<float>(found.deviation) == c.deviation);
    }
  }
}

TEST_CASE("peer spread: too few bins are refused, no value has no spread", "[calibrate]") {
  CalibrationConfig config;
  config.num_bins = 128;
  CHECK(error_text([&] { require_spread_bins(config); }) ==
        "calibration.num_bins: 128, expected at least 512 for method distribution");
  const PeerHistogram empty({-1, 1, 0, 1}, PeerHistogram::Of::Values, 512);
  CHECK_FALSE(peer_spread(empty, SpreadOf::Values).has_value());
}

}  // namespace qtool
