#include "config/algorithm.h"

#include "catch.h"
#include "config/load.h"
#include "config_fault.h"

namespace qtool {
namespace {

using testing::section_fault;

TEST_CASE("algorithm: is a name, or an object of a name and numbers", "[config]") {
  const Config config = read_config(
      R"({"quantization": {"algorithms": ["a", {"name": "b", "alpha": 0.5}, {"name": "c"}]}})",
      "c.json");
  const auto& algorithms = *config.quantization.algorithms;
  REQUIRE(algorithms.size() == 3);
  CHECK(algorithms[0].name == "a");
  CHECK(algorithms[1].parameters.at("alpha") == 0.5);
  CHECK(algorithms[2].parameters.empty());
  CHECK(to_compact_json(write_value(algorithms)) == R"(["a",{"name":"b","alpha":0.5},"c"])");
}

TEST_CASE("algorithm: without a name, or with a parameter that is no number, it is refused",
          "[config]") {
  CHECK(section_fault("quantization", R"({"algorithms": [{"alpha": 1}]})") ==
        "c.json:17: quantization.algorithms[0]: has no 'name', expected {\"name\": …}");
  CHECK(section_fault("quantization", R"({"algorithms": [{"name": "a", "b": "c"}]})") ==
        "c.json:17: quantization.algorithms[0].b: found 'c', expected a number");
  CHECK(section_fault("quantization", R"({"algorithms": [7]})") ==
        "c.json:17: quantization.algorithms[0]: found 7, expected an object");
}

}  // namespace
}  // namespace qtool
