#include "calibrate/table_channels.h"

#include "calibrate/table.h"
#include "catch.h"
#include "error_text.h"
#include "table_example.h"

namespace qtool {
namespace {

using testing::failure_of;
using Words = std::vector<SecondMoments::Words>;

const std::vector<std::int64_t> kShape = {2, 11};

/// What the example's tensor `conv` holds by channel, with everything there is.
TableChannels all_channels(MomentsKind kind) {
  TableChannels out{
      .axis = 1, .sums = {}, .maxima = ChannelMaxima(), .moments = SecondMoments(kind)};
  for (std::uint64_t index = 0; index < 5; ++index) {
    const std::vector<float> values = example_values(index, false);
    const auto all = std::span(values).first(22);
    out.sums.observe(all, kShape, 1);
    out.maxima->observe(all, kShape, 1);
    out.moments->add(*sample_moments(kind, all, kShape, 1));
  }
  return out;
}

/// What is said of a table with these channels, without its beginning.
std::string answer(const TableChannels& channels) {
  CalibrationTable table = example_table();
  table.channels["conv"] = channels;
  const std::string text = failure_of([&] { parse_table(table_bytes(table), "t"); });
  const std::string begin = "exit 3: t: tensor 'conv': ";
  return text.starts_with(begin) ? text.substr(begin.size()) : text;
}

std::string answer(const std::vector<float>& maxima) {
  TableChannels channels = all_channels(MomentsKind::Full);
  channels.maxima = ChannelMaxima::from(maxima, false);
  return answer(channels);
}

std::string answer(MomentsKind kind, const Words& words, std::uint64_t row_count) {
  TableChannels channels = all_channels(kind);
  channels.moments = SecondMoments::from(kind, words, row_count, false);
  return answer(channels);
}

}  // namespace

TEST_CASE("table: what is recorded by channel on demand is read again", "[calibrate]") {
  for (const auto kind : {MomentsKind::Diagonal, MomentsKind::Full}) {
    CalibrationTable table = example_table();
    table.channels["conv"] = all_channels(kind);
    table.channels["empty"].axis = -1;
    table.channels["empty"].maxima.emplace();
    table.channels["empty"].moments.emplace(kind);
    CHECK(parse_table(table_bytes(table), "t") == table);
  }
}

TEST_CASE("table: magnitudes by channel that no run could give are refused", "[calibrate]") {
  std::vector<float> maxima(11, 1);
  CHECK(answer(maxima) == "no error");
  maxima.back() = 11;
  CHECK(answer(maxima) == "channels have a magnitude of 11, expected 0 to 10");
  maxima.back() = -1;
  CHECK(answer(maxima) == "channels have a magnitude of -1, expected 0 to 10");
  maxima.pop_back();
  CHECK(answer(maxima) == "channels have 10 magnitudes, expected 11");
}

TEST_CASE("table: second moments that no run could give are refused", "[calibrate]") {
  const auto answer_of = [](Words words, std::uint64_t rows) {
    return answer(MomentsKind::Diagonal, words, rows);
  };
  const Words none(11);
  CHECK(answer_of(none, 10) == "no error");
  CHECK(answer_of(Words(12), 10) == "second moments have 12 sums, expected 11");
  CHECK(answer(MomentsKind::Full, none, 10) == "second moments have 11 sums, expected 66");
  CHECK(answer_of(none, 11) ==
        "second moments have 11 rows of 11 channels, expected at most 110 values");
  Words words = none;
  words[3] = {-1, 0};
  CHECK(answer_of(words, 10).starts_with("second moments have a sum of -4096, expected at most 1"));
  words[3] = {-1, ~0ULL};
  CHECK(answer_of(words, 10).starts_with("second moments have a sum of squares of -2.2"));
  words[3] = {1, 0};
  CHECK(answer_of(words, 10).starts_with("second moments have a sum of 4096, expected at most"));
}

}  // namespace qtool
