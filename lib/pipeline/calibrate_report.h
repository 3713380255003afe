#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "pipeline/output_file.h"
#include "pipeline/provenance.h"
#include "pipeline/timed_stage.h"

namespace qtool {

/// One of `count` parts of a sample folder: the samples whose number is `index` modulo `count`.
struct Shard {
  std::uint64_t index = 0;
  std::uint64_t count = 1;
};

/// Result of `calibrate` in each of its forms.
struct CalibrateReport {
  Provenance provenance;
  Config config;
  std::string form;                ///< `record`, `merge` or `export`
  std::vector<FileDigest> inputs;  ///< the model, or the tables
  FileDigest output;
  std::string calibration_sha256;  ///< of all samples, where this run knows them all
  std::optional<Shard> shard;
  std::uint64_t total_samples = 0;     ///< of the folder
  std::uint64_t sample_count = 0;      ///< that the table holds
  std::uint64_t new_sample_count = 0;  ///< that this run recorded
  std::size_t tensor_count = 0;
  bool has_channel_maxima = false;  ///< these two: what the table holds by channel
  std::string second_moments;       ///< `diagonal`, `full` or nothing
  std::vector<std::string> notes;   ///< of the passes
  std::vector<std::string> warnings;
  StageTimes seconds;
};

}  // namespace qtool
