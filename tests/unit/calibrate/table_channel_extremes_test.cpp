#include "calibrate/table_channel_extremes.h"

#include <limits>
#include <utility>
#include <vector>

#include "calibrate/table.h"
#include "calibrate/table_check.h"
#include "catch.h"
#include "error_text.h"
#include "table_example.h"

namespace qtool {
namespace {

using kernels::MinMax;
using testing::failure_of;

/// What is said of a table with these extremes of `conv`, whose values go from -4 to 10, without
/// the beginning.
std::string answer(std::vector<MinMax> channels) {
  CalibrationTable table = table_with_channel_extremes();
  table.channel_extremes["conv"] = ChannelExtremes::from(std::move(channels), false);
  const std::string text = failure_of([&] { parse_table(table_bytes(table), "t"); });
  const std::string begin = "exit 3: t: tensor 'conv': extremes of channels ";
  return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

}  // namespace

TEST_CASE("table: extremes of channels are read again", "[calibrate]") {
  CalibrationTable table = table_with_channel_extremes();
  CHECK(parse_table(table_bytes(table), "t") == table);
  table.channel_extremes["conv"] = ChannelExtremes::from({}, true);
  CHECK(parse_table(table_bytes(table), "t") == table);
  const CalibrationTable first = table_with_channel_extremes({0});
  const auto channels = parse_table(table_bytes(first), "t").channel_extremes.at("conv");
  REQUIRE(channels.channels().size() == 2);
  CHECK(channels.channels()[1].finite_count == 0);
}

TEST_CASE("table: extremes of channels that no run could give are refused", "[calibrate]") {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  CHECK(answer({{-4, 1, 1, 0}, {0, 10, 1, 0}, {}}) == "no error");
  CHECK(answer({{-4, 1, 1, 0}, {0, 9, 1, 0}}) ==
        "reach from -4 to 9, expected those of the tensor, -4 and 10");
  CHECK(answer({{-4, 10, 1, 0}, {2, 1, 1, 0}}) == "are 2 and 1, expected a range");
  CHECK(answer({{-4, 10, 1, 0}, {kNan, 1, 1, 0}}) == "are nan and 1, expected a range");
  CHECK(answer({}) == "reach from inf to -inf, expected those of the tensor, -4 and 10");
  CHECK(answer(std::vector<MinMax>(112, {-4, 10, 1, 0})) ==
        "are 112, expected at most 111, the values");
}

TEST_CASE("table: what lacks extremes of channels does not serve where they are needed",
          "[calibrate]") {
  CHECK_NOTHROW(check_channel_extremes(example_table(), false, "t"));
  CHECK_NOTHROW(check_channel_extremes(table_with_channel_extremes(), true, "t"));
  CHECK(failure_of([] { check_channel_extremes(example_table(), true, "t"); }) ==
        "exit 3: t: calibration table without what calibration.per_channel needs: no extremes of "
        "channels, expected those of all tensors | qtool calibrate with calibration.per_channel "
        "records them");
}

}  // namespace qtool
