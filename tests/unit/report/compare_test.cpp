#include "report/compare.h"

#include <limits>

#include "catch.h"

namespace qtool {
namespace {

CompareReport example() {
  CompareReport report;
  report.reference = {"models/digits.onnx", 412300};
  report.other = {"models/digits.int8.onnx", 118900};
  report.size_ratio = 118900.0 / 412300;
  report.data = "data/eval";
  report.labels = "data/eval/labels.json";
  TensorDistance logits;
  logits.name = "logits";
  logits.sample_count = 240;
  logits.value_count = 2400;
  logits.cosine_mean = 0.998712;
  logits.cosine_min = 0.99120412;
  logits.worst_sample = "s_12";
  logits.sqnr_db = 24.81;
  logits.max_abs_error = 1.0249;
  logits.mean_abs_error = 0.11;
  report.comparison.outputs = {logits};
  report.comparison.sample_count = 240;
  report.comparison.top1 = {.row_count = 240,
                            .agreement = 0.99166666,
                            .reference_accuracy = 0.9875,
                            .accuracy = 0.98333333,
                            .drop = 0.00416666};
  report.gates = {{"min_cosine", 0.99, 0.998712, true, {}},
                  {"max_top1_drop", 0.001, 0.00416666, false, {}}};
  return report;
}

TEST_CASE("compare report: the text says sizes, accuracy, distances and gates", "[report]") {
  CHECK(to_text(to_document(example())) ==
        "  reference        models/digits.onnx, 412.3 KB\n"
        "  compared         models/digits.int8.onnx, 118.9 KB (28.84 %)\n"
        "  data             data/eval, 240 samples\n"
        "  labels           data/eval/labels.json\n"
        "  top-1            98.75 % -> 98.33 %\n"
        "  top-1 agreement  99.17 % of 240 rows\n"
        "\n"
        "distance of the outputs, 240 samples\n"
        "  output    cosine     worst  in sample     SQNR  max error  mean error\n"
        "  logits  0.998712  0.991204  s_12       24.8 dB      1.025        0.11\n"
        "\n"
        "gates\n"
        "  gate                value     limit\n"
        "  min_cosine       0.998712   >= 0.99  met\n"
        "  max_top1_drop  0.00416666  <= 0.001  NOT MET\n");
}

TEST_CASE("compare report: without classes and gates the text leaves them out", "[report]") {
  CompareReport report = example();
  report.labels.reset();
  report.comparison.top1 = {};
  report.gates.clear();
  TensorDistance& logits = report.comparison.outputs[0];
  logits.sqnr_db = std::numeric_limits<double>::infinity();
  logits.cosine_mean = logits.cosine_min = 1;
  logits.worst_sample.clear();
  logits.max_abs_error = logits.mean_abs_error = 0;
  CHECK(to_text(to_document(report)) ==
        "  reference  models/digits.onnx, 412.3 KB\n"
        "  compared   models/digits.int8.onnx, 118.9 KB (28.84 %)\n"
        "  data       data/eval, 240 samples\n"
        "\n"
        "distance of the outputs, 240 samples\n"
        "  output    cosine     worst  in sample   SQNR  max error  mean error\n"
        "  logits  1.000000  1.000000             exact          0           0\n");
}

TEST_CASE("compare report: rare columns and expected outputs come where there is something to say",
          "[report]") {
  CompareReport report = example();
  TensorDistance ids;
  ids.name = "ids";
  ids.skipped = 2;
  ids.equal_share = 0.5;
  ids.nonfinite = 1;
  report.comparison.outputs = {ids};
  report.comparison.expected = {ids};
  report.comparison.reference_expected = {ids};
  const std::string text = to_text(to_document(report));
  CHECK(text.find("distance of the outputs, 240 samples\n"
                  "  output  cosine  worst  in sample  SQNR  max error  mean error    equal  not "
                  "finite  skipped\n"
                  "  ids          -      -                -          -           -  50.00 %        "
                  "   1        2\n") != std::string::npos);
  CHECK(text.find("reference model against the expected outputs of the data\n") !=
        std::string::npos);
  CHECK(text.find("compared model against the expected outputs of the data\n") !=
        std::string::npos);
}

TEST_CASE("compare report: JSON holds every figure, infinite ones as strings", "[report]") {
  CompareReport report = example();
  report.comparison.outputs[0].sqnr_db = -std::numeric_limits<double>::infinity();
  report.gates[0].value = std::numeric_limits<double>::quiet_NaN();
  report.gates[0].note = "no output could be compared";
  report.gates[0].met = false;
  const JsonValue json = to_json(report);
  CHECK(to_compact_json(*json.find("reference")) ==
        R"({"path":"models/digits.onnx","bytes":412300})");
  const JsonValue& comparison = *json.find("comparison");
  CHECK(
      to_compact_json(*comparison.find("outputs")) ==
      R"([{"name":"logits","sample_count":240,"skipped":0,"value_count":2400,"cosine_mean":0.998712,)"
      R"("cosine_min":0.99120412,"worst_sample":"s_12","sqnr_db":"-Infinity","max_abs_error":1.0249,)"
      R"("mean_abs_error":0.11,"nonfinite":0,"equal_share":null}])");
  CHECK(
      to_compact_json(*json.find("gates")) ==
      R"([{"name":"min_cosine","limit":0.99,"value":null,"met":false,"note":"no output could be compared"},)"
      R"({"name":"max_top1_drop","limit":0.001,"value":0.00416666,"met":false}])");
  CHECK(comparison.find("expected_outputs")->is_null());
}

}  // namespace
}  // namespace qtool
