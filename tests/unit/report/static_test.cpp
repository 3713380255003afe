#include "report/static.h"

#include <cmath>

#include "catch.h"
#include "static_example.h"

namespace qtool {
namespace {

TEST_CASE("static report: the text says sizes, nodes, reasons and where the manifest is",
          "[report]") {
  CHECK(to_text(to_document(example_static_report())) ==
        "  input        in/model.onnx, 400.0 KB, opset 12\n"
        "  output       out/model.int8.onnx, 100.0 KB (25.00 %), opset 13\n"
        "  calibration  100 samples of calib\n"
        "  nodes        2 quantized, 1 folded away, 1 left in float\n"
        "  tensors      1 activation, 1 weight, 0 biases quantized\n"
        "  preset       cpu\n"
        "  load check   loads\n"
        "  manifest     out/model.int8.onnx.manifest.json\n"
        "\n"
        "nodes left in float\n"
        "  nodes  operator  why\n"
        "      1  Softmax   its input is not quantized\n");
}

TEST_CASE("static report: what the machine chose is told, and what it cost", "[report]") {
  StaticReport report = example_static_report();
  report.config.preset = Preset::CpuAvx2;
  report.preset_reason = "this machine has AVX2 and no VNNI";
  report.plan.tensors[1].widening = {2, 1, std::sqrt(2.0)};
  const std::string text = to_text(to_document(report));
  CHECK(text.find("  preset       cpu-avx2: this machine has AVX2 and no VNNI\n") !=
        std::string::npos);
  CHECK(
      text.find(
          "  16-bit sums  2 of 3 channels of weights lose 0.75 bits on average, 1.00 at most\n") !=
      std::string::npos);
}

TEST_CASE("static report: a predicted time says whose it is", "[report]") {
  StaticReport report = example_static_report();
  report.predicted.forecast = {.float_us = 200, .quantized_us = 100};
  CHECK(to_text(to_document(report))
            .find("  predicted    0.50 of the float model's time, on a CPU with VNNI\n") !=
        std::string::npos);
  CHECK(to_compact_json(*to_json(report).find("predicted")) ==
        R"({"by":"table","float_us":200,"quantized_us":100,"time_ratio":0.5,"unknown_nodes":0})");
  report.predicted.trial = {
      .float_us = 400, .quantized_us = 300, .float_runs = 7, .quantized_runs = 9};
  report.predicted.inputs = {{.name = "x", .shape = {1, 24}}};
  CHECK(to_text(to_document(report))
            .find("  predicted    0.75 of the float model's time, tried on this machine with "
                  "made-up ranges\n") != std::string::npos);
  CHECK(to_compact_json(*to_json(report).find("predicted")) ==
        R"({"by":"trial","float_us":400,"quantized_us":300,"time_ratio":0.75,)"
        R"("runs":{"float":7,"quantized":9},"inputs":{"x":[1,24]}})");
}

TEST_CASE("static report: a verification adds accuracy, distances and gates", "[report]") {
  StaticReport report = example_static_report();
  report.verification.emplace();
  report.verification->sample_count = 3;
  report.verification->top1.row_count = 3;
  report.verification->top1.agreement = 1;
  report.gates = {{"min_cosine", 0.9, 0.99, true, {}}};
  const std::string text = to_text(to_document(report));
  CHECK(text.find("  top-1 agreement  100.00 % of 3 rows\n") != std::string::npos);
  CHECK(text.find("\ndistance of the outputs, 3 samples\n") != std::string::npos);
  CHECK(text.find("\ngates\n") != std::string::npos);
}

TEST_CASE("static report: the worst regions come first, by their worst output", "[report]") {
  StaticReport report = example_static_report();
  const auto distance = [](double sqnr_db, double cosine) {
    TensorDistance out;
    out.name = "t";
    out.sqnr_db = sqnr_db;
    out.cosine_mean = cosine;
    return out;
  };
  report.regions = {{"a", "b", 3, {distance(40, 1)}, {distance(30, 0.99), distance(35, 1)}},
                    {"c", "c", 1, {}, {distance(20, 0.9)}},
                    {"d", "e", 2, {distance(10, 1)}, {}}};
  const std::string text = to_text(to_document(report));
  CHECK(text.find("integer regions\n"
                  "  nodes  from  to  SQNR at begin   at end    cosine\n"
                  "      1  c     c                  20.0 dB  0.900000\n"
                  "      3  a     b         40.0 dB  30.0 dB  0.990000\n") != std::string::npos);
  CHECK(to_compact_json(std::get<JsonValue::List>(to_json(report).find("regions")->data)[1]) ==
        R"({"first":"c","last":"c","node_count":1,"inputs":[],)"
        R"("outputs":[{"name":"t","sqnr_db":20,"cosine_mean":0.9}]})");
}

TEST_CASE("static report: of many regions the worst ten are shown", "[report]") {
  StaticReport report = example_static_report();
  TensorDistance distance;
  for (int i = 0; i < 12; ++i) {
    distance.sqnr_db = i;
    report.regions.push_back({std::to_string(i), "z", 1, {}, {distance}});
  }
  const std::string text = to_text(to_document(report));
  CHECK(text.find("integer regions, the worst 10 of 12\n") != std::string::npos);
  CHECK(text.find("\n      1  9  ") != std::string::npos);
  CHECK(text.find("\n      1  10 ") == std::string::npos);
}

TEST_CASE("static report: a dry run says what would be done", "[report]") {
  StaticReport report = example_static_report();
  report.config.dry_run = true;
  CHECK(to_text(to_document(report)) ==
        "  input    in/model.onnx, 400.0 KB, opset 12\n"
        "  output   nothing written: a dry run\n"
        "  nodes    2 quantized, 1 folded away, 1 left in float\n"
        "  tensors  1 activation, 1 weight, 0 biases quantized\n"
        "  preset   cpu\n"
        "\n"
        "nodes left in float\n"
        "  nodes  operator  why\n"
        "      1  Softmax   its input is not quantized\n");
}

TEST_CASE("static report: HTML lists every node and tensor", "[report]") {
  const std::string html = to_html(to_document(example_static_report()));
  CHECK(html.find("<summary>every node left in float</summary>") != std::string::npos);
  CHECK(html.find("<td>w</td><td>int8</td><td class=\"n\">2 channels</td>") != std::string::npos);
}

TEST_CASE("static report: JSON adds every tensor and times", "[report]") {
  const JsonValue json = to_json(example_static_report());
  CHECK(
      to_compact_json(*json.find("quantized_tensors")) ==
      R"([{"name":"x","type":"uint8","axis":null,"from":"measured","scale":0.5,"zero_point":128},)"
      R"({"name":"w","type":"int8","axis":0,"from":"weights","channel_count":2}])");
  CHECK(to_compact_json(*json.find("seconds")) == R"({"load":0.25})");
  CHECK(to_compact_json(*json.find("nodes")) == R"({"quantized":2,"folded":1,"float":1})");
}

}  // namespace
}  // namespace qtool
