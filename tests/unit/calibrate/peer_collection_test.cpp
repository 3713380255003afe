#include "calibrate/peer_collection.h"

#include "calibrate/calibrate.h"
#include "calibrate/minmax.h"
#include "calibrate/peer_spread.h"
#include "catch.h"
#include "memory_samples.h"
#include "peer_model_expected.h"
#include "peer_values.h"
#include "text_model.h"

namespace qtool {
namespace {

/// The model and the samples of tests/oracle/peer_calibration.py.
constexpr const char* kModel = R"(g (float[N] x) => (float[N] y) <float w = {-2}> {
  a = Relu (x)
  m = Mul (x, w)
  y = Add (a, m)
})";
const std::vector<std::string> kTensors = {"x", "a", "m", "y"};

MemorySamples peer_samples() {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < kPeerSamples; ++i) {
    std::vector<float> values = peer_values("scattered", 100 + i, kPeerSampleValues);
    for (float& value : values) value *= static_cast<float>(i + 1);
    out.push_back(row(values));
  }
  return MemorySamples(std::move(out));
}

CalibrationConfig config_of(const PeerModelCase& expected, CalibrationMethod method) {
  CalibrationConfig out;
  out.method = method;
  out.num_bins = expected.bins;
  out.num_quantized_bins = expected.levels;
  out.percentile = expected.percentile;
  out.symmetric = expected.is_symmetric;
  out.moving_average = expected.moving_average;
  out.averaging_constant = expected.constant;
  if (expected.stride < static_cast<std::int64_t>(kPeerSamples)) out.stride = expected.stride;
  return out;
}

PeerHistograms histograms_of(const CalibrationConfig& config, const SampleFolder& samples,
                             int threads) {
  const Model model = testing::text_model(kModel);
  return collect_peer_histograms(model,
                                 {.tensors = kTensors,
                                  .of = peer_histogram_for(config),
                                  .bins = static_cast<std::size_t>(config.num_bins),
                                  .samples = all_samples(samples),
                                  .threads = threads},
                                 samples, {});
}

std::string text_of(const PeerModelCase& c) {
  return std::string(c.method) + " " + c.tensor + ", bins " + std::to_string(c.bins) +
         ", percentile " + std::to_string(c.percentile) + ", stride " + std::to_string(c.stride) +
         ", constant " + std::to_string(c.constant) + (c.is_symmetric ? ", symmetric" : "") +
         (c.moving_average ? ", average" : "");
}

}  // namespace

TEST_CASE("peer collection: percentile and entropy are those of ONNX Runtime", "[calibrate]") {
  const auto samples = peer_samples();
  std::size_t compared = 0;
  for (const PeerModelCase& expected : kPeerModelCases) {
    const std::string method = expected.method;
    if (method != "percentile" && method != "entropy") continue;
    const auto config = config_of(
        expected, method == "entropy" ? CalibrationMethod::Entropy : CalibrationMethod::Percentile);
    INFO(text_of(expected));
    const auto ranges = peer_ranges(histograms_of(config, samples, 2), config, 1);
    CHECK(ranges.at(expected.tensor) == Range{expected.low, expected.high});
    ++compared;
  }
  CHECK(compared == 24);
}

TEST_CASE("peer collection: averages and deviations are those of ONNX Runtime", "[calibrate]") {
  const auto samples = peer_samples();
  std::size_t compared = 0;
  for (const PeerModelCase& expected : kPeerModelCases) {
    if (std::string(expected.method) != "distribution") continue;
    const auto config = config_of(expected, CalibrationMethod::Distribution);
    const auto histograms = histograms_of(config, samples, 2);
    const PeerHistogram& histogram = histograms.at(expected.tensor);
    INFO(text_of(expected));
    const auto found = peer_spread(histogram, SpreadOf::Values);
    REQUIRE(found);
    CHECK(static_cast<float>(found->average) == expected.average);
    CHECK(static_cast<float>(found->deviation) == expected.deviation);
    CHECK(histogram.edges().front() == expected.low);
    CHECK(histogram.edges().back() == expected.high);
    ++compared;
  }
  CHECK(compared == 4);
}

// numpy adds the extremes of a stride in float32.
TEST_CASE("peer collection: strides and moving averages are those of ONNX Runtime", "[calibrate]") {
  const Model model = testing::text_model(kModel);
  const auto samples = peer_samples();
  const Collection wanted{.tensors = kTensors,
                          .keeps_sample_extremes = true,
                          .samples = all_samples(samples),
                          .threads = 2};
  const auto statistics = collect_statistics(model, wanted, samples, {}).statistics;
  std::size_t compared = 0;
  for (const PeerModelCase& expected : kPeerModelCases) {
    if (std::string(expected.method) != "minmax") continue;
    INFO(text_of(expected));
    const auto found = minmax_range(statistics.at(expected.tensor),
                                    config_of(expected, CalibrationMethod::MinMax));
    REQUIRE(found);
    CHECK_THAT(found->min, Catch::Matchers::WithinULP(expected.low, 4));
    CHECK_THAT(found->max, Catch::Matchers::WithinULP(expected.high, 4));
    ++compared;
  }
  CHECK(compared == 96);
}

TEST_CASE("peer collection: counts do not depend on threads", "[calibrate]") {
  const auto samples = peer_samples();
  CalibrationConfig config;
  const auto one = histograms_of(config, samples, 1);
  const auto four = histograms_of(config, samples, 4);
  for (const std::string& name : kTensors)
    CHECK(std::ranges::equal(one.at(name).counts(), four.at(name).counts()));
}

TEST_CASE("peer collection: a tensor without a finite value has no histogram", "[calibrate]") {
  const Model model = testing::text_model("g (float[N] x) => (float[N] y) { y = Sqrt (x) }");
  const MemorySamples samples({row({-1}), row({-4})});
  const auto found = collect_peer_histograms(
      model, {.tensors = {"x", "y"}, .bins = 4, .samples = {0, 1}}, samples, {});
  CHECK(found.size() == 1);
  CHECK(std::ranges::equal(found.at("x").counts(), std::vector<std::int64_t>{1, 1, 0, 0}));
}

}  // namespace qtool
