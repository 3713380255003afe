#include "calibrate/table_merge.h"

#include <algorithm>

#include "catch.h"
#include "error_text.h"
#include "table_example.h"

namespace qtool {
namespace {

using testing::failure_of;

template <typename Change>
std::string failure_after(const Change& change) {
  TableMerge merge;
  merge.add(example_table({0, 2}), "a.qcal");
  CalibrationTable part = example_table({1, 3, 4});
  change(part);
  return failure_of([&] { merge.add(std::move(part), "b.qcal"); });
}

}  // namespace

TEST_CASE("merge: parts in any order give the bytes of the table of all samples", "[calibrate]") {
  const std::string whole = table_bytes(example_table());
  std::vector<std::vector<std::uint64_t>> parts = {{1}, {0, 4}, {2, 3}, {}};
  std::ranges::sort(parts);
  do {
    TableMerge merge;
    for (const auto& part : parts) merge.add(example_table(part), "part");
    CHECK(table_bytes(merge.take()) == whole);
  } while (std::ranges::next_permutation(parts).found);
}

TEST_CASE("merge: extremes of samples come in their order", "[calibrate]") {
  TableMerge merge;
  for (const auto& part : {std::vector<std::uint64_t>{1, 4}, {0, 3}, {2}})
    merge.add(table_with_sample_extremes(part), "part");
  CHECK(table_bytes(merge.take()) == table_bytes(table_with_sample_extremes()));
  CHECK(failure_after([](CalibrationTable& table) { table.origin.has_sample_extremes = true; }) ==
        "exit 3: b.qcal: calibration table of another kind: extremes of single samples recorded, "
        "expected not recorded");
}

TEST_CASE("merge: extremes of channels are those of all parts", "[calibrate]") {
  for (const bool is_turned : {false, true}) {
    const std::vector<std::uint64_t> some = {1, 4}, others = {0, 2, 3};
    TableMerge merge;
    merge.add(table_with_channel_extremes(is_turned ? some : others), "a");
    merge.add(table_with_channel_extremes(is_turned ? others : some), "b");
    CHECK(table_bytes(merge.take()) == table_bytes(table_with_channel_extremes()));
  }
  CHECK(failure_after([](CalibrationTable& table) { table.origin.has_channel_extremes = true; }) ==
        "exit 3: b.qcal: calibration table of another kind: extremes of channels recorded, "
        "expected not recorded");
}

TEST_CASE("merge: without all samples the table says which it has", "[calibrate]") {
  TableMerge merge;
  merge.add(example_table({4}), "a");
  merge.add(example_table({0, 1}), "b");
  const CalibrationTable table = merge.take();
  CHECK_FALSE(table.is_complete());
  CHECK(table == example_table({0, 1, 4}));
}

TEST_CASE("merge: tables of something else are refused by what differs", "[calibrate]") {
  using T = CalibrationTable;
  const std::string a(64, 'a'), b(64, 'b'), c(64, 'c');
  CHECK(failure_after([&](T& t) { t.origin.model_sha256 = c; }) ==
        "exit 3: b.qcal: calibration table of another model: SHA-256 " + c + ", expected " + a);
  CHECK(failure_after([](T& t) { t.origin.preprocess = R"({"enabled":true,"opset":12})"; }) ==
        "exit 3: b.qcal: calibration table made with other options: preprocess.opset 12, expected "
        "null");
  CHECK(failure_after([](T& t) { t.origin.qtool_version = "0.2.0"; }) ==
        "exit 3: b.qcal: calibration table of another version: qtool 0.2.0, expected 0.1.0");
  CHECK(failure_after([](T& t) { t.origin.onnxruntime_version = "1.9"; }) ==
        "exit 3: b.qcal: calibration table of another version: ONNX Runtime 1.9, expected 1.32.0");
  CHECK(failure_after([](T& t) { t.origin.kind = StatisticsKind::Extremes; }) ==
        "exit 3: b.qcal: calibration table of another kind: statistics extremes, expected all");
  CHECK(failure_after([](T& t) { t.origin.total_samples = 6; }) ==
        "exit 3: b.qcal: calibration table of another sample folder: 6 samples, expected 5");
  CHECK(failure_after([&](T& t) { t.origin.sample_names_sha256 = c; }) ==
        "exit 3: b.qcal: calibration table of another sample folder: SHA-256 of the names " + c +
            ", expected " + b);
  CHECK(failure_after([](T& t) { t.tensors.erase("relu"); }) ==
        "exit 3: b.qcal: calibration table of other tensors: no 'relu', expected all that a.qcal "
        "has");
  CHECK(failure_after([](T& t) { t.tensors["more"]; }) ==
        "exit 3: a.qcal: calibration table of other tensors: no 'more', expected all that b.qcal "
        "has");
}

TEST_CASE("merge: sums by channel are of the same tensors along the same axes", "[calibrate]") {
  const std::string answer =
      "exit 3: b.qcal: calibration table of other channels, expected those of a.qcal | "
      "--per-channel-statistics and --second-moments must be the same";
  CHECK(failure_after([](CalibrationTable& t) { t.channels["conv"].axis = 0; }) == answer);
  CHECK(failure_after([](CalibrationTable& t) { t.channels["conv"].maxima.emplace(); }) == answer);
  CHECK(failure_after([](CalibrationTable& t) { t.channels["conv"].moments.emplace(); }) == answer);
  CHECK(failure_after([](CalibrationTable& t) { t.channels.erase("empty"); }) == answer);
}

TEST_CASE("merge: a sample counts once", "[calibrate]") {
  CHECK(failure_after([](CalibrationTable& table) {
          table = example_table({1, 2});
        }) == "exit 3: b.qcal: has sample 's_2', number 2, expected it once: it is in a.qcal too");
}

TEST_CASE("merge: counts that no table holds are refused", "[calibrate]") {
  TableMerge merge;
  for (const std::uint64_t sample : {0, 1}) {
    CalibrationTable part = example_table({sample});
    part.tensors["empty"].nonfinite_count = 1ULL << 62;
    const std::string failure = failure_of([&] { merge.add(std::move(part), "part"); });
    CHECK(failure == (sample == 0 ? "no error"
                                  : "exit 3: part: tensor 'empty': counts of all parts are beyond "
                                    "2^63, expected fewer values"));
  }
}

}  // namespace qtool
