#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/table.h"

namespace qtool {

/// Values that the tensors of sample `index` have: of either sign, zeros, and some not finite.
inline std::vector<float> example_values(std::uint64_t index, bool is_positive) {
  std::vector<float> out = {0, 1e-30F};
  for (int i = 0; i < 20; ++i) {
    const auto value = static_cast<float>((i * 37 + static_cast<int>(index) * 11) % 29);
    out.push_back(is_positive ? value : 0.5F * value - 4);
  }
  if (index == 1) out.push_back(1.0F / 0.0F);
  return out;
}

/// A table of three tensors, one of them without values, over some of five samples.
inline CalibrationTable example_table(const std::vector<std::uint64_t>& samples = {0, 1, 2, 3, 4}) {
  CalibrationTable out;
  out.origin = {.qtool_version = "0.1.0",
                .onnxruntime_version = "1.32.0",
                .model_sha256 = std::string(64, 'a'),
                .preprocess = R"({"enabled":true,"opset":null})",
                .kind = StatisticsKind::All,
                .total_samples = 5,
                .sample_names_sha256 = std::string(64, 'b')};
  for (const char* name : {"conv", "empty", "relu"}) out.tensors[name];
  out.channels["conv"].axis = 1;
  out.channels["empty"].axis = 0;
  for (const std::uint64_t index : samples) {
    out.samples.push_back({index, "s_" + std::to_string(index),
                           std::string(63, '0') + static_cast<char>('0' + index)});
    out.tensors["relu"].observe(example_values(index, true), index, StatisticsKind::All);
    const std::vector<float> values = example_values(index, false);
    out.tensors["conv"].observe(values, index, StatisticsKind::All);
    out.channels["conv"].sums.observe(std::span(values).first(22), std::vector<std::int64_t>{2, 11},
                                      1);
  }
  return out;
}

/// The same with the extremes of single samples.
inline CalibrationTable table_with_sample_extremes(const std::vector<std::uint64_t>& samples = {
                                                       0, 1, 2, 3, 4}) {
  CalibrationTable out = example_table(samples);
  out.origin.has_sample_extremes = true;
  for (const char* name : {"conv", "relu"}) {
    TensorStatistics& statistics = out.tensors[name] = {};
    for (const std::uint64_t index : samples) {
      statistics.observe(example_values(index, std::string(name) == "relu"), index,
                         StatisticsKind::All, true);
    }
  }
  return out;
}

/// The same with the extremes of channels: two of `conv`, of which only later samples fill the
/// second, one of `relu`.
inline CalibrationTable table_with_channel_extremes(const std::vector<std::uint64_t>& samples = {
                                                        0, 1, 2, 3, 4}) {
  CalibrationTable out = example_table(samples);
  out.origin.has_channel_extremes = true;
  out.channel_extremes["empty"];
  for (const std::uint64_t index : samples) {
    std::vector<float> values = example_values(index, false);
    values.resize(2 * values.size(), index < 2 ? 1.0F / 0.0F : -1);
    const auto half = static_cast<std::int64_t>(values.size() / 2);
    out.channel_extremes["conv"].observe(values, std::vector<std::int64_t>{1, 2, half});
    const std::vector<float> positive = example_values(index, true);
    out.channel_extremes["relu"].observe(
        positive, std::vector<std::int64_t>{static_cast<std::int64_t>(positive.size())});
  }
  return out;
}

}  // namespace qtool
