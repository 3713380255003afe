#include "pipeline/gain.h"

#include "catch.h"
#include "npy_writer.h"
#include "pipeline/prepare.h"
#include "pipeline/typical_sample.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// A small layer for one rate; for the other, one that works on a hundred times the rows.
constexpr const char* kTwoRates = R"(agraph (float[N,2] x, int64 rate) => (float[M,2] y)
  <int64 low = {8}, float[2,2] w = {1, 2, 3, 4}, int64[2] tiles = {100, 1}> {
    p = Equal (rate, low)
    y = If (p) <
      then_branch = a () => (float[J,2] b) { b = MatMul (x, w) },
      else_branch = c () => (float[K,2] d) { t = Tile (x, tiles) d = MatMul (t, w) }
    >
  })";

/// What the model costs with the inputs that `folder` holds as its one sample.
std::optional<CostForecast> forecast(const char* text, const TempDir& folder) {
  Config config;
  config.calibration.data = folder.path();
  const Model original = text_model(text);
  Model prepared = original.clone();
  prepare_for_quantization(prepared, config);
  return forecast_gain(config, original, prepared, Planner(config.quantization, config.preset),
                       typical_sample(config, prepared).inputs);
}

std::optional<CostForecast> at_rate(std::int64_t rate) {
  const TempDir folder;
  folder.write("s/x.npy", npy<float>({50, 2}, std::vector<float>(100, 1)));
  folder.write("s/rate.npy", npy<std::int64_t>({}, {rate}));
  return forecast(kTwoRates, folder);
}

}  // namespace

TEST_CASE("gain: an input that chooses a branch leaves the other uncounted", "[pipeline]") {
  const auto low = at_rate(8), high = at_rate(16);
  REQUIRE(low);
  REQUIRE(high);
  CHECK(low->unknown_nodes == 0);
  CHECK(high->unknown_nodes == 0);
  CHECK(low->float_us + 1 < high->float_us);
}

TEST_CASE("gain: of branches that values choose the dearest counts", "[pipeline]") {
  const TempDir folder;
  folder.write("s/x.npy", npy<float>({50, 2}, std::vector<float>(100, 1)));
  folder.write("s/rate.npy", npy<float>({}, {8}));
  const auto either = forecast(R"(agraph (float[N,2] x, float rate) => (float[M,2] y)
    <float low = {8}, float[2,2] w = {1, 2, 3, 4}, int64[2] tiles = {100, 1}> {
      p = Less (rate, low)
      y = If (p) <
        then_branch = a () => (float[J,2] b) { b = MatMul (x, w) },
        else_branch = c () => (float[K,2] d) { t = Tile (x, tiles) d = MatMul (t, w) }
      >
    })",
                               folder);
  const auto high = at_rate(16);
  REQUIRE(either);
  REQUIRE(high);
  CHECK(either->unknown_nodes == 0);
  CHECK(either->float_us >= high->float_us);
}

TEST_CASE("gain: nothing is said of a model whose sizes are values", "[pipeline]") {
  const TempDir folder;
  folder.write("s/x.npy", npy<float>({50}, std::vector<float>(50, 1)));
  CHECK_FALSE(forecast(R"(agraph (float[N] x) => (float[1,K] y) {
    i = NonZero (x)
    f = Cast <to = 1> (i)
    y = Exp (f)
  })",
                       folder));
}
