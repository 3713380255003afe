#include "calibrate/table.h"

#include <random>

#include "base/sha256.h"
#include "catch.h"
#include "error_text.h"
#include "table_example.h"
#include "temp_dir.h"

namespace qtool {
namespace {

using testing::failure_of;

std::string failure(const std::string& bytes) {
  return failure_of([&] { parse_table(bytes, "t.qcal"); });
}

/// `bytes` with the checksum that their content has.
std::string sealed(std::string bytes) {
  bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), 32));
  Sha256 hash;
  hash.update(
      std::string_view(bytes).substr(0, bytes.size() - std::min<std::size_t>(bytes.size(), 2)));
  for (const std::byte byte : hash.digest()) bytes += static_cast<char>(byte);
  return bytes;
}

/// What a table says that was changed by `change` and written.
template <typename Change>
std::string failure_after(const Change& change) {
  CalibrationTable table = example_table();
  change(table);
  return failure(table_bytes(table));
}

}  // namespace

TEST_CASE("table: what was written is read again", "[calibrate]") {
  for (const auto& samples : {std::vector<std::uint64_t>{}, {3}, {0, 1, 2, 3, 4}}) {
    const CalibrationTable table = example_table(samples);
    CHECK(parse_table(table_bytes(table), "t.qcal") == table);
  }
}

TEST_CASE("table: kinds with less have less", "[calibrate]") {
  for (const auto kind : {StatisticsKind::Extremes, StatisticsKind::Distribution}) {
    CalibrationTable table = example_table({});
    table.origin.kind = kind;
    table.samples = example_table().samples;
    for (std::uint64_t index = 0; index < 5; ++index)
      table.tensors["conv"].observe(example_values(index, false), index, kind);
    CHECK(parse_table(table_bytes(table), "t.qcal") == table);
  }
}

TEST_CASE("table: names that are no UTF-8 stay as they are", "[calibrate]") {
  CalibrationTable table = example_table();
  table.samples[0].name = "\xff\n";
  table.tensors["\xfe/\0x"].nonfinite_count = 7;
  CHECK(parse_table(table_bytes(table), "t.qcal") == table);
}

TEST_CASE("table: a file is a table by its content", "[calibrate]") {
  const testing::TempDir dir;
  CHECK(is_table_file(dir.write("model.onnx", table_bytes(example_table()))));
  CHECK_FALSE(is_table_file(dir.write("t.qcal", "qtool calibration table")));
  CHECK_FALSE(is_table_file(dir.write("empty.qcal", "")));
  CHECK_FALSE(is_table_file(dir / "absent"));
  CHECK(read_table(dir / "model.onnx") == example_table());
  CHECK(failure_of([&] { read_table(dir / "absent"); }) ==
        "exit 5: " + (dir / "absent").string() + ": cannot be read: No such file or directory");
}

TEST_CASE("table: what is none is refused in words that say what it is", "[calibrate]") {
  const std::string bytes = table_bytes(example_table());
  const std::string damaged =
      "exit 3: t.qcal: is damaged or cut off: its checksum is not that of its content";
  CHECK(failure("") == "exit 3: t.qcal: is empty, expected a calibration table");
  CHECK(failure("min max min max") ==
        "exit 3: t.qcal: is no calibration table, expected one of qtool calibrate");
  CHECK(failure(" {}") ==
        "exit 3: t.qcal: is no calibration table but JSON, expected one of qtool calibrate | "
        "ONNX Runtime's cache is read by the key calibration.cache");
  CHECK(failure(bytes.substr(0, 30)) == damaged);
  CHECK(failure(bytes.substr(0, bytes.size() - 1)) == damaged);
  CHECK(failure(bytes + bytes) == damaged);
}

TEST_CASE("table: a later format is told from damage", "[calibrate]") {
  std::string bytes = table_bytes(example_table());
  bytes[26] = 2;  // behind the magic and the tag of format_version
  CHECK(failure(sealed(bytes)) ==
        "exit 3: t.qcal: format_version is 2, expected 1 | it was written by another version of "
        "qtool: 0.1.0");
}

TEST_CASE("table: fields that would be lost are refused", "[calibrate]") {
  const std::string bytes = table_bytes(example_table());
  const std::string body = bytes.substr(0, bytes.size() - 34);
  const std::string end = bytes.substr(bytes.size() - 34);
  const std::string answer =
      "exit 3: t.qcal: is not in the one form that tables have: fields are unknown or unordered";
  CHECK(failure(sealed(body + "\x70\x01" + end)) == answer);  // field 14, which no table has
  CHECK(failure(sealed(body + "\x40\x05" + end)) == answer);  // total_samples a second time
  CHECK(failure(sealed(body + "\x0f" + end)) ==
        "exit 3: t.qcal: is no protobuf message, expected a calibration table");
}

TEST_CASE("table: samples ascend and are of the folder", "[calibrate]") {
  CHECK(failure_after([](CalibrationTable& table) {
          std::swap(table.samples[1], table.samples[2]);
        }) == "exit 3: t.qcal: sample number 1 stands behind 2, expected ascending ones");
  CHECK(failure_after([](CalibrationTable& table) { table.samples[3].index = 2; }) ==
        "exit 3: t.qcal: sample number 2 stands behind 2, expected ascending ones");
  CHECK(failure_after([](CalibrationTable& table) { table.origin.total_samples = 4; }) ==
        "exit 3: t.qcal: has sample number 4, expected less than 4, the samples of the folder");
  CHECK(failure_after([](CalibrationTable& table) { table.samples[0].sha256 = "ab"; }) ==
        "exit 3: t.qcal: sample sha256 has 1 bytes, expected 32");
  CHECK(failure_after([](CalibrationTable& table) { table.origin.preprocess = "[1]"; }) ==
        "exit 3: t.qcal: preprocess is a list, expected an object");
}

TEST_CASE("table: statistics that no run could give are refused", "[calibrate]") {
  const auto answer = [](const auto& change) {
    const std::string text =
        failure_after([&](CalibrationTable& table) { change(table.tensors["conv"]); });
    const std::string begin = "exit 3: t.qcal: tensor 'conv': ";
    CHECK(text.substr(0, begin.size()) == begin);
    return text.substr(std::min(text.size(), begin.size()));
  };
  using S = TensorStatistics;
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  CHECK(answer([](S& s) { s.min.value = kNan; }) == "min is nan, expected a finite number");
  CHECK(answer([](S& s) { s.max.value = 1.0F / 0.0F; }) == "max is inf, expected a finite number");
  CHECK(answer([](S& s) { s.min.value = 99; }) == "min is 99, expected at most 10, the max");
  CHECK(answer([](S& s) { s.max.sample = 5; }) ==
        "max is of sample number 5, expected one of the table");
  CHECK(answer([](S& s) { s.value_count -= 1; }) == "sketch holds 110 values, expected 109");
  CHECK(answer([](S& s) { s.zero_count = 99; }) ==
        "has 99 zeros, expected at most 13, the lowest bucket");
  CHECK(answer([](S& s) { s.max.value = 1e9F; }) ==
        "sketch has the top octave 130, expected 156, that of the extremes");
  CHECK(answer([](S& s) { s.sketch = {}; }) == "has no sketch, expected one");
  CHECK(answer([](S& s) { s.sample_count = 6; }) ==
        "has values of 6 samples, expected at most 5, those of the table");
  CHECK(answer([](S& s) { s.sample_count = 0; }) ==
        "has 110 values of 0 samples, expected one of each at least");
  CHECK(answer([](S& s) { s.nonfinite_count = ~0ULL; }) ==
        "counts beyond 2^63, expected fewer values");
  CHECK(answer([](S& s) { s.sum_of_minima.add(-80); }) ==
        "sum_of_minima gives a mean of -19.9, expected one from -4 to 10");
  CHECK(answer([](S& s) { s.sum.add(1e300); }).substr(0, 21) == "sum gives a mean of 9");
}

TEST_CASE("table: extremes of samples are read again", "[calibrate]") {
  CHECK(parse_table(table_bytes(table_with_sample_extremes()), "t.qcal") ==
        table_with_sample_extremes());
}

TEST_CASE("table: extremes of samples that no run could give are refused", "[calibrate]") {
  const auto answer = [](const auto& change) {
    CalibrationTable table = table_with_sample_extremes();
    change(table.tensors["conv"].sample_extremes);
    const std::string text = failure(table_bytes(table));
    const std::string begin = "exit 3: t.qcal: tensor 'conv': has ";
    CHECK(text.substr(0, begin.size()) == begin);
    return text.substr(std::min(text.size(), begin.size()));
  };
  using E = std::vector<SampleExtremes>;
  CHECK(answer([](E& e) { e.pop_back(); }) ==
        "4 minima and 4 maxima of 4 samples, expected those of 5");
  CHECK(answer([](E& e) { std::swap(e[0], e[1]); }) ==
        "extremes of sample number 0 behind those of 1, expected ascending ones");
  CHECK(answer([](E& e) { e[1].sample = 0; }) ==
        "extremes of sample number 0 behind those of 0, expected ascending ones");
  CHECK(answer([](E& e) { e[4].sample = 9; }) ==
        "extremes of sample number 9, expected one of the table");
  CHECK(answer([](E& e) { e[0].max = 11; }) ==
        "the extremes -4 and 11 of sample number 0, expected some from -4 to 10");
  CHECK(answer([](E& e) { e[0].min = std::numeric_limits<float>::quiet_NaN(); }) ==
        "the extremes nan and 10 of sample number 0, expected some from -4 to 10");
  CHECK(answer([](E& e) { e[0].max = 9; }) ==
        "extremes of samples whose sums are others than those of the tensor");
  CalibrationTable table = table_with_sample_extremes();
  table.origin.has_sample_extremes = false;
  CHECK(failure(table_bytes(table)) ==
        "exit 3: t.qcal: tensor 'conv': has extremes of samples, expected none in a table without "
        "them");
}

TEST_CASE("table: sums by channel that no run could give are refused", "[calibrate]") {
  using Words = std::vector<ChannelSums::Words>;
  const auto answer = [](std::int64_t axis, const Words& words, std::uint64_t values, bool ragged) {
    const std::string text = failure_after([&](CalibrationTable& table) {
      table.channels["conv"] = {axis, ChannelSums::from(words, values, ragged)};
    });
    const std::string begin = "exit 3: t.qcal: tensor 'conv': channels ";
    CHECK(text.substr(0, begin.size()) == begin);
    return text.substr(std::min(text.size(), begin.size()));
  };
  CHECK(answer(64, {}, 0, false) == "lie along axis 64, expected -1 to 63");
  CHECK(answer(-2, {}, 0, false) == "lie along axis -2, expected -1 to 63");
  CHECK(answer(1, {{0, 1}}, 0, false) == "have sums of no values, expected none");
  CHECK(answer(1, {{0, 1}, {-1, 0}}, 56, false) == "have 2 times 56 values, expected at most 110");
  CHECK(answer(1, {{1 << 20, 0}}, 4, false) == "have a mean of 4398046511104, expected at most 10");
  CHECK(failure_after([](CalibrationTable& table) {
          table.channels["conv"] = {1, ChannelSums::from({}, 0, true)};
        }) == "no error");
}

TEST_CASE("table: a damaged file is refused, and never taken for another table", "[calibrate]") {
  const std::string bytes = table_bytes(example_table());
  std::mt19937 random(20240611);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  const auto survives = [&](const std::string& changed) {
    try {
      return changed == bytes || parse_table(changed, "t.qcal") == example_table();
    } catch (const Error& error) {
      return error.kind() == ErrorKind::Input;
    }
  };
  bool all_survive = true;
  for (std::size_t length = 0; length < bytes.size(); ++length)
    all_survive &= survives(bytes.substr(0, length));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ (1 << below(8)));
    all_survive &= survives(changed);
  }
  CHECK(all_survive);
}

TEST_CASE("table: a forged file is refused, or a table like any other", "[calibrate]") {
  const std::string bytes = table_bytes(example_table());
  std::mt19937 random(20240612);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  int read = 0, other_kinds = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string changed = bytes;
    for (std::size_t change = 1 + below(3); change > 0; --change) {
      const std::size_t at = 24 + below(changed.size() - 60);
      const std::size_t count = 1 + below(4);
      switch (below(4)) {
        case 0:
          changed[at] = static_cast<char>(changed[at] ^ (1 << below(8)));
          break;
        case 1:
          changed[at] = static_cast<char>(below(256));
          break;
        case 2:
          changed.erase(at, count);
          break;
        default:
          changed.insert(at, changed.substr(24 + below(changed.size() - 60), count));
      }
    }
    changed = sealed(changed);
    try {
      const CalibrationTable table = parse_table(changed, "t.qcal");
      other_kinds += table_bytes(table) != changed;
      ++read;
    } catch (const Error& error) {
      other_kinds += error.kind() != ErrorKind::Input;
      other_kinds += std::string(error.what()).find('\n') != std::string::npos;
    }
  }
  CHECK(other_kinds == 0);
  CHECK(read > 100);
  CHECK(read < 19000);
}

}  // namespace qtool
