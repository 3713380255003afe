#include "calibrate/table_check.h"

#include "catch.h"
#include "error_text.h"
#include "table_example.h"

namespace qtool {
namespace {

using Names = std::vector<std::string>;

std::string failure(const CalibrationTable& table, const Names& tensors,
                    const std::string& model_sha256 = std::string(64, 'a'),
                    const std::string& preprocess = R"({"enabled":true,"opset":null})",
                    StatisticsKind kind = StatisticsKind::Distribution) {
  return testing::failure_of([&] {
    check_table(
        table,
        {.model_sha256 = model_sha256, .preprocess = preprocess, .kind = kind, .tensors = tensors},
        "t.qcal");
  });
}

}  // namespace

TEST_CASE("table check: a table with more than is needed serves", "[calibrate]") {
  CHECK(failure(example_table(), {}) == "no error");
  CHECK(failure(example_table({1}), {"conv", "empty"}) == "no error");
}

TEST_CASE("table check: another model is named by its digest", "[calibrate]") {
  const std::string other(64, 'd');
  CHECK(failure(example_table(), {}, other) ==
        "exit 3: t.qcal: calibration table of another model: SHA-256 " + std::string(64, 'a') +
            ", expected " + other);
}

TEST_CASE("table check: the first option that differs is named", "[calibrate]") {
  const auto text = [](const std::string& preprocess) {
    return failure(example_table(), {}, std::string(64, 'a'), preprocess);
  };
  const std::string begin = "exit 3: t.qcal: calibration table made with other options: ";
  CHECK(text(R"({"enabled":false,"opset":13})") ==
        begin + "preprocess.enabled true, expected false");
  CHECK(text(R"({"enabled":true,"dims":{"N":1}})") ==
        begin + R"(preprocess.dims nothing, expected {"N":1})");
  CHECK(text(R"({"enabled":true})") ==
        begin + "other keys in preprocess, expected those of this version");
}

TEST_CASE("table check: a method needs what was recorded", "[calibrate]") {
  CalibrationTable table = example_table();
  table.origin.kind = StatisticsKind::Extremes;
  CHECK(failure(table, {}) ==
        "exit 3: t.qcal: calibration table without what the method needs: statistics extremes, "
        "expected distribution");
}

TEST_CASE("table check: strides need extremes of samples", "[calibrate]") {
  const auto text = [](const CalibrationTable& table, bool needed) {
    return testing::failure_of([&] { check_sample_extremes(table, needed, "t.qcal"); });
  };
  CHECK(text(example_table(), true) ==
        "exit 3: t.qcal: calibration table without what calibration.stride needs: no extremes of "
        "single samples, expected those of all samples | qtool calibrate with calibration.stride "
        "records them");
  CHECK(text(example_table(), false) == "no error");
  CHECK(text(table_with_sample_extremes(), true) == "no error");
}

TEST_CASE("table check: missing tensors are listed, and counted where they are many",
          "[calibrate]") {
  const std::string begin = "exit 3: t.qcal: calibration table lacks tensors: no ";
  const std::string end =
      " of this run | run qtool calibrate with the same "
      "quantization.op_types_to_quantize";
  CHECK(failure(example_table(), {"conv", "a"}) == begin + "'a', expected all 2" + end);
  CHECK(failure(example_table(), {"a", "b", "c", "conv", "d", "e\n"}) ==
        begin + "'a', 'b', 'c' and 2 more, expected all 6" + end);
}

}  // namespace qtool
