#include "report/table.h"

#include "catch.h"

namespace qtool {
namespace {

TableReport example() {
  TableReport out;
  out.file = {"dir/t.qcal", std::string(64, 'f'), 2500};
  out.qtool_version = "0.1.0";
  out.onnxruntime_version = "1.32.0";
  out.model_sha256 = std::string(64, 'a');
  out.preprocess = R"({"enabled":true})";
  out.statistics = "all";
  out.total_samples = 3;
  out.samples = {{0, "s_0", std::string(64, '0')}, {2, "s_2", std::string(64, '2')}};
  RecordedTensor conv;
  conv.name = "conv";
  conv.value_count = 200;
  conv.nonfinite_count = 1;
  conv.sample_count = 2;
  conv.min = -1.5F;
  conv.max = 2;
  conv.min_sample = "s_2";
  conv.max_sample = "s_0";
  conv.zeros = 50;
  conv.mean = 0.25;
  RecordedTensor empty;
  empty.name = "empty";
  out.tensors = {conv, empty};
  return out;
}

}  // namespace

TEST_CASE("table report: as text says what it is and what each tensor holds", "[report]") {
  CHECK(to_text(to_document(example())) ==
        "  table       dir/t.qcal, 2.5 KB\n"
        "  made by     qtool 0.1.0, ONNX Runtime 1.32.0\n"
        "  of model    SHA-256 " +
            std::string(64, 'a') +
            "\n"
            "  samples     2 of 3: a part, qtool calibrate --merge joins parts\n"
            "  tensors     2\n"
            "  statistics  all\n"
            "\n"
            "tensors\n"
            "  tensor  values   min  in sample  max  in sample    zeros  mean  not finite\n"
            "  conv       200  -1.5  s_2          2  s_0        25.00 %  0.25           1\n"
            "  empty        0     -  -            -  -                -     -           0\n");
}

TEST_CASE("table report: as JSON has samples, tensors and what they are of", "[report]") {
  const JsonValue json = to_json(example());
  CHECK(to_compact_json(*json.find("preprocess")) == R"({"enabled":true})");
  CHECK(to_compact_json(json.find("samples")->as<JsonValue::List>()->back()) ==
        R"({"index":2,"name":"s_2","sha256":")" + std::string(64, '2') + R"("})");
  const auto& tensors = *json.find("tensors")->as<JsonValue::List>();
  CHECK(to_compact_json(tensors[0]) ==
        R"({"name":"conv","values":200,"nonfinite":1,"samples":2,)"
        R"("min":{"value":-1.5,"sample":"s_2"},"max":{"value":2,"sample":"s_0"},)"
        R"("zeros":50,"mean":0.25})");
  CHECK(to_compact_json(tensors[1]) ==
        R"({"name":"empty","values":0,"nonfinite":0,"samples":0,"min":null,"max":null,)"
        R"("zeros":null,"mean":null})");
}

TEST_CASE("table report: extremes of samples are named where the table has them", "[report]") {
  TableReport report = example();
  CHECK(to_compact_json(*to_json(report).find("has_sample_extremes")) == "false");
  report.has_sample_extremes = true;
  CHECK(to_compact_json(*to_json(report).find("has_sample_extremes")) == "true");
  CHECK(to_text(to_document(report)).find("statistics  all, extremes of each sample\n") !=
        std::string::npos);
}

TEST_CASE("table report: extremes of channels are ranges of them", "[report]") {
  TableReport report = example();
  report.has_channel_extremes = true;
  report.tensors[0].channel_ranges = {{-1.5F, 0}, {0, 2}};
  CHECK(to_text(to_document(report)).find("statistics  all, extremes of each channel\n") !=
        std::string::npos);
  const JsonValue json = to_json(report);
  const auto& tensors = *json.find("tensors")->as<JsonValue::List>();
  CHECK(to_compact_json(*tensors[0].find("channel_ranges")) ==
        R"([{"min":-1.5,"max":0},{"min":0,"max":2}])");
  CHECK(tensors[1].find("channel_ranges") == nullptr);
}

TEST_CASE("table report: second moments are those of tensors and of windows", "[report]") {
  TableReport report = example();
  RecordedChannels channels;
  channels.second_moments = "diagonal";
  report.tensors[0].channels = channels;
  const auto text = [&] { return to_text(to_document(report)); };
  CHECK(text().find("second moments  diagonal, of 1 tensors\n") != std::string::npos);
  channels.second_moments = "full";
  channels.windows = {{.kernel = {3},
                       .strides = {2},
                       .dilations = {1},
                       .pads = {},
                       .auto_pad = "SAME_UPPER",
                       .group = 1,
                       .row_length = 3,
                       .row_count = 8,
                       .sums_of_squares = {1, 2, 3}}};
  report.tensors[0].channels = channels;
  CHECK(text().find("second moments  full, of 1 tensors and 1 windows of Convs\n") !=
        std::string::npos);
  const JsonValue json = to_json(report);
  const JsonValue& found = json.find("tensors")->as<JsonValue::List>()->front();
  CHECK(to_compact_json(*found.find("channels")->find("windows")) ==
        R"([{"kernel":[3],"strides":[2],"dilations":[1],"auto_pad":"SAME_UPPER","group":1,)"
        R"("row_length":3,"rows":8,"sums_of_squares":[1,2,3]}])");
}

TEST_CASE("table report: ranges are there with the method that gave them", "[report]") {
  TableReport report = example();
  report.method = "minmax";
  report.tensors[0].range = Range{-2, 2};
  const JsonValue json = to_json(report);
  CHECK(to_compact_json(*json.find("method")) == "\"minmax\"");
  const auto& tensors = *json.find("tensors")->as<JsonValue::List>();
  CHECK(to_compact_json(*tensors[0].find("range")) == R"({"min":-2,"max":2})");
  CHECK(tensors[1].find("range")->is_null());
}

}  // namespace qtool
