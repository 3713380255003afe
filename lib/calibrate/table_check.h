#pragma once

#include <map>
#include <span>
#include <string>

#include "calibrate/table.h"

namespace qtool {

/// What a run wants of a table whose ranges it takes.
struct TableNeeds {
  std::string model_sha256;
  std::string preprocess;  ///< section of the config, as JSON on one line
  StatisticsKind kind = StatisticsKind::Extremes;
  bool sample_extremes = false;
  std::span<const std::string> tensors;
};

/// Refuses a table that does not serve: `Input` error that begins with `where` and names what
/// differs.
void check_table(const CalibrationTable& table, const TableNeeds& needs, const std::string& where);

/// Its parts: whether the table has these tensors, and enough of each.
void check_tensors(const CalibrationTable& table, std::span<const std::string> needed,
                   const std::string& where);
void check_kind(const CalibrationTable& table, StatisticsKind needed, const std::string& where);
void check_sample_extremes(const CalibrationTable& table, bool needed, const std::string& where);
void check_channel_extremes(const CalibrationTable& table, bool needed, const std::string& where);

/// The same for tables that are to be parts of one.
void check_same_origin(const TableOrigin& found, const TableOrigin& expected,
                       const std::string& where);

/// The same for what parts hold by channel; `other` is what is expected.
void check_same_channels(const std::map<std::string, TableChannels>& found,
                         const std::map<std::string, TableChannels>& expected,
                         const std::string& where, const std::string& other = "this run");

/// `statistics` as a word of a message: `extremes`, `distribution` or `all`.
std::string kind_name(StatisticsKind kind);

}  // namespace qtool
