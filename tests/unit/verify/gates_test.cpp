#include "verify/gates.h"

#include <cmath>
#include <limits>

#include "catch.h"

namespace qtool {
namespace {

TensorDistance output(double cosine_mean, double sqnr_db) {
  TensorDistance out;
  out.sample_count = 1;
  out.value_count = 10;
  out.cosine_mean = cosine_mean;
  out.sqnr_db = sqnr_db;
  return out;
}

TEST_CASE("gates: only those that the config sets are judged, in its order", "[verify]") {
  Comparison comparison;
  comparison.outputs = {output(0.99, 30)};
  comparison.top1.drop = 0.02;
  CHECK(judge_gates({}, comparison, 0.3).empty());
  VerifyConfig config;
  config.max_size_ratio = 0.25;
  config.max_top1_drop = 0.02;
  config.min_sqnr_db = 30;
  config.min_cosine = 0.995;
  const auto gates = judge_gates(config, comparison, 0.3);
  REQUIRE(gates.size() == 4);
  CHECK(gates[0].name == "min_cosine");
  CHECK(gates[0].limit == 0.995);
  CHECK(gates[0].value == 0.99);
  CHECK_FALSE(gates[0].met);
  CHECK(gates[1].name == "min_sqnr_db");
  CHECK(gates[1].met);
  CHECK(gates[2].name == "max_top1_drop");
  CHECK(gates[2].met);
  CHECK(gates[3].name == "max_size_ratio");
  CHECK(gates[3].value == 0.3);
  CHECK_FALSE(gates[3].met);
}

TEST_CASE("gates: the worst output counts", "[verify]") {
  Comparison comparison;
  comparison.outputs = {output(0.999, 10), output(0.9, 40)};
  VerifyConfig config;
  config.min_cosine = 0.95;
  config.min_sqnr_db = 20;
  const auto gates = judge_gates(config, comparison, 1);
  CHECK(gates[0].value == 0.9);
  CHECK(gates[1].value == 10);
}

TEST_CASE("gates: integer outputs count only where there is nothing else", "[verify]") {
  TensorDistance indices = output(0.1, -3);
  indices.equal_share = 0.5;
  Comparison comparison;
  comparison.outputs = {indices, output(0.99, 30)};
  VerifyConfig config;
  config.min_cosine = 0.9;
  CHECK(judge_gates(config, comparison, 1)[0].value == 0.99);
  comparison.outputs.pop_back();
  CHECK(judge_gates(config, comparison, 1)[0].value == 0.1);
}

TEST_CASE("gates: an infinite SQNR meets every limit", "[verify]") {
  Comparison comparison;
  comparison.outputs = {output(1, std::numeric_limits<double>::infinity())};
  VerifyConfig config;
  config.min_sqnr_db = 1000;
  CHECK(judge_gates(config, comparison, 1)[0].met);
}

TEST_CASE("gates: one with nothing to judge is not met and says why", "[verify]") {
  Comparison comparison;
  comparison.outputs = {TensorDistance{}};
  VerifyConfig config;
  config.min_cosine = 0;
  config.max_top1_drop = 1;
  config.max_latency_ratio = 1;
  const auto gates = judge_gates(config, comparison, 1);
  CHECK_FALSE(gates[0].met);
  CHECK(std::isnan(gates[0].value));
  CHECK(gates[0].note == "no output could be compared");
  CHECK_FALSE(gates[1].met);
  CHECK(gates[1].note == "the first output names no class");
  CHECK_FALSE(gates[2].met);
  CHECK(gates[2].note == "latency was not measured");
}

}  // namespace
}  // namespace qtool
