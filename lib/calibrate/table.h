#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/channel_extremes.h"
#include "calibrate/channel_maxima.h"
#include "calibrate/channel_sums.h"
#include "calibrate/second_moments.h"
#include "calibrate/statistics.h"

namespace qtool {

/// What tables must share to be parts of one.
struct TableOrigin {
  std::string qtool_version;
  std::string onnxruntime_version;
  std::string model_sha256;  ///< of the model file; 64 hexadecimal digits, like all digests here
  std::string preprocess;    ///< section of the config, as JSON on one line
  StatisticsKind kind = StatisticsKind::All;
  bool has_sample_extremes = false;   ///< extremes of single samples, of every tensor
  bool has_channel_extremes = false;  ///< and of channels
  std::uint64_t total_samples = 0;    ///< of the whole sample folder
  std::string sample_names_sha256;    ///< of their names in order
  friend bool operator==(const TableOrigin&, const TableOrigin&) = default;
};

/// A sample that was run.
struct TableSample {
  std::uint64_t index = 0;  ///< in the natural order of the folder
  std::string name;
  std::string sha256;
  friend bool operator==(const TableSample&, const TableSample&) = default;
};

/// What a table holds of a tensor by channel.
struct TableChannels {
  std::int64_t axis = 1;  ///< along which its channels lie; -1: the last
  ChannelSums sums;
  std::optional<ChannelMaxima> maxima = {};  ///< these two where they were asked for
  std::optional<SecondMoments> moments = {};
  std::map<ConvWindow, SecondMoments> windows = {};  ///< of what Convs see through these
  friend bool operator==(const TableChannels&, const TableChannels&) = default;
};

/// What one pass over calibration data recorded, with what it was recorded of. A `.qcal` file holds
/// one; docs/calibration-table.md describes it.
struct CalibrationTable {
  TableOrigin origin;
  std::vector<TableSample> samples;  ///< by ascending index
  std::map<std::string, TensorStatistics> tensors;
  std::map<std::string, TableChannels> channels;                 ///< of some of the tensors
  std::map<std::string, ChannelExtremes> channel_extremes = {};  ///< of all, where it has them

  /// Whether every sample of the folder was run.
  bool is_complete() const { return samples.size() == origin.total_samples; }
  friend bool operator==(const CalibrationTable&, const CalibrationTable&) = default;
};

/// The content of a table file: equal bytes for equal tables.
std::string table_bytes(const CalibrationTable& table);

/// The table of a file's content, which `where` names in messages. `Input` error where it is none,
/// is damaged, or says what cannot be.
CalibrationTable parse_table(std::string_view bytes, const std::string& where);

/// The table of a file; `Io` error where that cannot be read, `Input` error as parse_table.
CalibrationTable read_table(const std::filesystem::path& path);

/// Whether the file begins as a table does; false where it cannot be read.
bool is_table_file(const std::filesystem::path& path);

}  // namespace qtool
