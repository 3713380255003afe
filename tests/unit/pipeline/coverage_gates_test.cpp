#include "pipeline/coverage_gates.h"

#include <cmath>

#include "catch.h"

namespace qtool {
namespace {

using Names = std::vector<std::string>;

TensorCoverage tensor(std::string name, double clipped, double range_used) {
  TensorCoverage out;
  out.name = std::move(name);
  out.clipped = clipped;
  out.range_used = range_used;
  return out;
}

const std::vector<TensorCoverage> kTensors = {tensor("a", 0.02, 1), tensor("b", 0.1, 0.5),
                                              tensor("c", 0, 0.25), TensorCoverage{}};

std::vector<Gate> judge(std::optional<double> max_clipped, std::optional<double> min_range_used,
                        const std::vector<TensorCoverage>& tensors = kTensors) {
  CalibrationConfig config;
  config.max_clipped = max_clipped;
  config.min_range_used = min_range_used;
  return judge_coverage(config, tensors);
}

}  // namespace

TEST_CASE("coverage gates: each is judged on every tensor and names all that fail it, worst first",
          "[pipeline]") {
  const auto gates = judge(0.01, 0.6);
  REQUIRE(gates.size() == 2);
  CHECK(gates[0].name == "max_clipped");
  CHECK(gates[0].value == 0.1);
  CHECK_FALSE(gates[0].met);
  CHECK(gates[0].failures == Names{"b", "a"});
  CHECK(gates[1].name == "min_range_used");
  CHECK(gates[1].value == 0.25);
  CHECK_FALSE(gates[1].met);
  CHECK(gates[1].failures == Names{"c", "b"});
}

TEST_CASE("coverage gates: a figure at the limit meets it", "[pipeline]") {
  const auto gates = judge(0.1, 0.25);
  CHECK(gates[0].met);
  CHECK(gates[1].met);
}

TEST_CASE("coverage gates: with nothing to judge one is not met, unset ones are none",
          "[pipeline]") {
  CHECK(judge({}, {}).empty());
  const auto gates = judge(1, {}, {TensorCoverage{}});
  REQUIRE(gates.size() == 1);
  CHECK_FALSE(gates[0].met);
  CHECK(std::isnan(gates[0].value));
  CHECK(gates[0].note == "no tensor has both a range and values");
}

}  // namespace qtool
