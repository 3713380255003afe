#include "report/coverage.h"

#include <string>

#include "catch.h"

namespace qtool {
namespace {

TensorCoverage tensor(const std::string& name, std::uint64_t clipped, double range_used) {
  TensorCoverage out;
  out.name = name;
  out.value_count = 1000000;
  out.range = Range{-1, 2};
  out.clipped_count = clipped;
  out.clipped = static_cast<double>(clipped) / 1e6;
  out.range_used = range_used;
  out.min = SampledValue{-1.5F, "s_1", "day"};
  out.max = SampledValue{2, "s_2", "night"};
  out.calibration_min = SampledValue{-1, "c_1", {}};
  out.calibration_max = SampledValue{2, "c_2", {}};
  return out;
}

CoverageReport example() {
  CoverageReport out;
  out.model = {"m.onnx", std::string(64, 'a'), 4000};
  out.table = {"t.qcal", std::string(64, 'b'), 2500};
  out.table_samples = 8;
  out.tensor_count = 2;
  out.scenarios = {{"day", 3, "", {{"conv", 0.25, 0.5}}}, {"night", 1, "", {}}};
  out.tensors = {tensor("conv", 3, 0.75), TensorCoverage{}};
  out.tensors[1].name = "never";
  out.gates = {{"max_clipped", 0, 3e-6, false, {}, {"conv"}}};
  return out;
}

}  // namespace

TEST_CASE("coverage report: a summary, gates, scenarios, then tensors", "[report]") {
  CHECK(
      to_text(to_document(example())) ==
      "  model             m.onnx, 4.0 KB\n"
      "  table             t.qcal, 8 samples\n"
      "  method            minmax\n"
      "  data              4 samples of 2 scenarios\n"
      "  tensors           2, 1 of them with values outside of their ranges\n"
      "  most clipped      < 0.01 % in conv\n"
      "  least range used  75.00 % in conv\n"
      "\n"
      "gates\n"
      "  gate         value  limit\n"
      "  max_clipped  3e-06   <= 0  NOT MET in tensor 'conv'\n"
      "\n"
      "worst tensors of each scenario\n"
      "  scenario  samples  tensor  clipped  range used\n"
      "  day             3  conv    25.00 %     50.00 %\n"
      "  night           1  -             -           -\n"
      "\n"
      "tensors, the worst first\n"
      "  tensor   clipped  range used    range   min  in sample  max  in sample  calibration min  "
      "in sample  calibration max  in sample\n"
      "  conv    < 0.01 %     75.00 %  -1 .. 2  -1.5  day/s_1      2  night/s_2               -1  "
      "c_1                      2  c_2\n"
      "  never          -           -        -     -  -            -  -                        -  "
      "-                        -  -\n");
}

TEST_CASE("coverage report: of many tensors the text shows the worst, HTML and JSON all",
          "[report]") {
  CoverageReport report = example();
  report.tensors.assign(21, tensor("conv", 3, 0.75));
  report.tensors.back().name = "last";
  const std::string text = to_text(to_document(report));
  CHECK(text.find("the 20 worst of 21 tensors\n") != std::string::npos);
  CHECK(text.find("last") == std::string::npos);
  CHECK(to_html(to_document(report)).find("last") != std::string::npos);
  CHECK(to_json(report).find("tensors")->as<JsonValue::List>()->size() == 21);
}

TEST_CASE("coverage report: JSON has every figure of a tensor, and what failed a gate",
          "[report]") {
  const JsonValue json = to_json(example());
  CHECK(to_compact_json(json.find("tensors")->as<JsonValue::List>()->front()) ==
        R"({"name":"conv","values":1000000,"nonfinite":0,"range":{"min":-1,"max":2},)"
        R"("clipped_values":3,"clipped":3e-06,"range_used":0.75,)"
        R"("min":{"value":-1.5,"sample":"s_1","scenario":"day"},)"
        R"("max":{"value":2,"sample":"s_2","scenario":"night"},)"
        R"("calibration_min":{"value":-1,"sample":"c_1"},)"
        R"("calibration_max":{"value":2,"sample":"c_2"}})");
  CHECK(to_compact_json(*json.find("gates")) ==
        R"([{"name":"max_clipped","limit":0,"value":3e-06,"met":false,"failures":["conv"]}])");
}

}  // namespace qtool
