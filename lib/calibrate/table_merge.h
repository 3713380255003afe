#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "calibrate/table.h"

namespace qtool {

/// Joins tables that were recorded of the same, each over other samples, in any order to the same
/// table. Holds the sum only, so that there may be many.
class TableMerge {
 public:
  /// Adds a part, which `where` names in messages. `Input` error where it is a part of something
  /// else, or has a sample that was added before; then the sum is not to be used.
  void add(CalibrationTable part, const std::string& where);
  /// All that was added; the one part where there was one.
  CalibrationTable take();

 private:
  struct Source {
    TableSample sample;
    std::size_t part = 0;
  };

  void add_samples(std::vector<TableSample> samples, const std::string& where);
  void add_tensors(std::map<std::string, TensorStatistics> tensors, const std::string& where);
  void add_channels(std::map<std::string, TableChannels> channels, const std::string& where);

  CalibrationTable sum_;  ///< its samples are in samples_
  std::map<std::uint64_t, Source> samples_;
  std::vector<std::string> parts_;
};

}  // namespace qtool
