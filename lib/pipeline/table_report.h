#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/ranges.h"
#include "pipeline/output_file.h"

namespace qtool {

/// What a table says of the rows that Convs see of a tensor through a window.
struct RecordedWindow {
  std::vector<std::int64_t> kernel, strides, dilations;
  std::vector<std::int64_t> pads;  ///< in front of all axes, then behind; empty with auto_pad
  std::string auto_pad;            ///< ONNX's word
  std::int64_t group = 1;
  std::uint64_t row_length = 0, row_count = 0;
  std::vector<double> sums_of_squares;  ///< by value of a row, one group behind the other
};

/// What a table says of a tensor by channel, where that was asked for.
struct RecordedChannels {
  std::int64_t axis = 1;        ///< -1: the last
  std::vector<double> means;    ///< these two empty where there are none
  std::vector<double> largest;  ///< magnitudes
  std::string second_moments;   ///< `diagonal`, `full` or nothing
  std::uint64_t row_count = 0;
  std::vector<double> sums_of_squares;
  std::vector<RecordedWindow> windows;
};

/// What a table says of one tensor.
struct RecordedTensor {
  std::string name;
  std::uint64_t value_count = 0;  ///< finite values
  std::uint64_t nonfinite_count = 0;
  std::uint64_t sample_count = 0;      ///< samples with a finite value
  float min = 0, max = 0;              ///< these four only where there are values
  std::string min_sample, max_sample;  ///< names of the first samples that have them
  std::optional<std::uint64_t> zeros;  ///< where the distribution was recorded
  std::optional<double> mean;          ///< where the sum was recorded
  std::optional<Range> range;          ///< by the method that was asked for
  std::vector<Range> channel_ranges;   ///< extremes of each channel, where they were recorded
  std::optional<RecordedChannels> channels;
};

/// A sample that was run.
struct RecordedSample {
  std::uint64_t index = 0;
  std::string name;
  std::string sha256;
};

/// What a calibration table holds.
struct TableReport {
  FileDigest file;
  std::string qtool_version, onnxruntime_version;
  std::string model_sha256;
  std::string preprocess;  ///< section of the config, as JSON on one line
  std::string statistics;  ///< `extremes`, `distribution` or `all`
  bool has_sample_extremes = false, has_channel_extremes = false;
  std::string method;  ///< of the ranges; empty: none were asked for
  std::uint64_t total_samples = 0;
  std::vector<RecordedSample> samples;
  std::vector<RecordedTensor> tensors;
};

}  // namespace qtool
