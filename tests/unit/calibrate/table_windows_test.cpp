#include "calibrate/table_windows.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "calibrate/table.h"
#include "calibrate/table_merge.h"
#include "catch.h"
#include "error_text.h"
#include "table_example.h"

namespace qtool {
namespace {

using testing::failure_of;
using Words = std::vector<SecondMoments::Words>;

/// Of a tensor of 2 x 11 x 1: channels of one position each.
const std::vector<std::int64_t> kShape = {2, 11, 1};

ConvWindow window_of_two() {
  return {.kernel = {2}, .strides = {1}, .dilations = {1}, .pads = {1, 0}};
}

ConvWindow depthwise() {
  ConvWindow out = window_of_two();
  out.group = 11;
  out.pads = {};
  out.auto_pad = AutoPad::SameLower;
  return out;
}

/// The example with what two Convs see of its tensor `conv`.
CalibrationTable example(const std::vector<std::uint64_t>& samples = {0, 1, 2, 3, 4}) {
  CalibrationTable out = example_table(samples);
  auto& windows = out.channels["conv"].windows;
  for (const ConvWindow& window : {window_of_two(), depthwise()}) {
    const auto groups = static_cast<std::size_t>(window.group);
    SecondMoments& moments =
        windows.emplace(window, SecondMoments(MomentsKind::Full, groups)).first->second;
    for (const std::uint64_t index : samples) {
      const std::vector<float> values = example_values(index, false);
      moments.add(*sample_moments(window, std::span(values).first(22), kShape));
    }
  }
  return out;
}

/// What is said of the example with other moments of a window, without the beginning.
std::string answer(const ConvWindow& window, const SecondMoments& moments) {
  CalibrationTable table = example_table();
  table.channels["conv"].windows.emplace(window, moments);
  const std::string text = failure_of([&] { parse_table(table_bytes(table), "t"); });
  const std::string begin = "exit 3: t: tensor 'conv': ";
  return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

SecondMoments moments_of(std::size_t sums, std::size_t matrices, std::uint64_t rows) {
  return SecondMoments::from(MomentsKind::Full, Words(sums), rows, false, matrices);
}

}  // namespace

TEST_CASE("table: what Convs see through windows is read again", "[calibrate]") {
  CalibrationTable table = example();
  CHECK(parse_table(table_bytes(table), "t") == table);
  table.channels["empty"].windows.emplace(window_of_two(), SecondMoments(MomentsKind::Full));
  table.channels["empty"].windows.emplace(depthwise(), SecondMoments(MomentsKind::Full, 11));
  CHECK(parse_table(table_bytes(table), "t") == table);
}

TEST_CASE("table: samples that differ in a window's rows leave none", "[calibrate]") {
  CalibrationTable table = example();
  SecondMoments& moments = table.channels["conv"].windows.at(window_of_two());
  moments.add(*sample_moments(window_of_two(), std::vector<float>{1, 2},
                              std::vector<std::int64_t>{1, 2, 1}));
  REQUIRE(moments.is_ragged());
  const CalibrationTable again = parse_table(table_bytes(table), "t");
  CHECK(again == table);
  CHECK(again.channels.at("conv").windows.at(window_of_two()).row_length() == 0);
}

TEST_CASE("table: parts with windows merge to the same bytes in any order", "[calibrate]") {
  const std::string whole = table_bytes(example());
  const std::vector<std::uint64_t> some = {1, 4}, others = {0, 2, 3};
  for (const bool is_turned : {false, true}) {
    TableMerge merge;
    merge.add(example(is_turned ? some : others), "a");
    merge.add(example(is_turned ? others : some), "b");
    CHECK(table_bytes(merge.take()) == whole);
  }
}

TEST_CASE("table: parts whose Convs have other windows are no parts of one", "[calibrate]") {
  CalibrationTable other = example({1});
  other.channels["conv"].windows.erase(depthwise());
  TableMerge merge;
  merge.add(example({0}), "a");
  CHECK(failure_of([&] {
          merge.add(std::move(other), "b");
        }).starts_with("exit 3: b: calibration table of other channels, expected those of a"));
}

TEST_CASE("table: windows that no run could give are refused", "[calibrate]") {
  const std::size_t sums = 22 * 23 / 2;
  CHECK(answer(window_of_two(), moments_of(sums, 1, 20)) == "no error");
  CHECK(answer(depthwise(), moments_of(11 * 3, 11, 20)) == "no error");
  CHECK(answer(window_of_two(), moments_of(6, 1, 20)) == "windows have rows of 3, expected 22");
  CHECK(answer(depthwise(), moments_of(sums * 11, 11, 20)) ==
        "windows have rows of 22, expected 2");
  ConvWindow window = depthwise();
  window.group = 2;
  CHECK(answer(window, moments_of(6, 2, 20)) == "windows have rows of 2, expected none");
  window.group = 0;
  CHECK(answer(window, moments_of(6, 1, 20)) == "windows have attributes that no Conv has");
  window = window_of_two();
  window.strides = {1, 1};
  CHECK(answer(window, moments_of(sums, 1, 20)) == "windows have attributes that no Conv has");
  window = window_of_two();
  window.pads = {};
  CHECK(answer(window, moments_of(sums, 1, 20)) == "windows have attributes that no Conv has");
  CHECK(answer(window_of_two(), moments_of(0, 1, 20))
            .starts_with("second moments have 20 rows of 0"));
  CHECK(answer(window_of_two(), SecondMoments::from(MomentsKind::Diagonal, Words(22), 20, false)) ==
        "windows have a diagonal, expected full moments");
  Words words(sums);
  words[0] = {-1, 0};
  CHECK(answer(window_of_two(), SecondMoments::from(MomentsKind::Full, words, 20, false))
            .starts_with("second moments have a sum of -4096, expected at most"));
  words[0] = {-1, ~0ULL};
  CHECK(answer(window_of_two(), SecondMoments::from(MomentsKind::Full, words, 20, false))
            .starts_with("second moments have a sum of squares of -2.2"));
}

}  // namespace qtool
