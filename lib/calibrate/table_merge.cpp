#include "calibrate/table_merge.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "base/error.h"
#include "calibrate/table_check.h"
#include "model/messages.h"

namespace qtool {
namespace {

constexpr std::uint64_t kMaxCount = std::numeric_limits<std::int64_t>::max();

Error fault(const std::string& where, const std::string& what) {
  return Error(ErrorKind::Input, where + ": " + what);
}

/// The first name that only one of the two has.
void check_same_names(const std::map<std::string, TensorStatistics>& found,
                      const std::map<std::string, TensorStatistics>& expected,
                      const std::string& where, const std::string& other) {
  const auto refuse_extra = [](const auto& a, const auto& b, const std::string& a_name,
                               const std::string& b_name) {
    for (const auto& [name, ignored] : a) {
      if (b.contains(name)) continue;
      throw fault(b_name, fmt::format("calibration table of other tensors: no {}, expected all "
                                      "that {} has",
                                      in_quotes(name), a_name));
    }
  };
  refuse_extra(expected, found, other, where);
  refuse_extra(found, expected, where, other);
}

}  // namespace

void TableMerge::add(CalibrationTable part, const std::string& where) {
  if (parts_.empty()) {
    sum_.origin = part.origin;
  } else {
    check_same_origin(part.origin, sum_.origin, where);
    check_same_names(part.tensors, sum_.tensors, where, parts_.front());
  }
  parts_.push_back(where);
  add_samples(std::move(part.samples), where);
  add_tensors(std::move(part.tensors), where);
  add_channels(std::move(part.channels), where);
  for (const auto& [name, extremes] : part.channel_extremes)
    sum_.channel_extremes[name].merge(extremes);
}

void TableMerge::add_samples(std::vector<TableSample> samples, const std::string& where) {
  for (TableSample& sample : samples) {
    const std::uint64_t index = sample.index;
    const auto [known, is_new] =
        samples_.try_emplace(index, Source{std::move(sample), parts_.size() - 1});
    if (is_new) continue;
    throw fault(where, fmt::format("has sample {}, number {}, expected it once: it is in {} too",
                                   in_quotes(known->second.sample.name), index,
                                   parts_[known->second.part]));
  }
}

void TableMerge::add_tensors(std::map<std::string, TensorStatistics> tensors,
                             const std::string& where) {
  if (parts_.size() == 1) {
    sum_.tensors = std::move(tensors);
    return;
  }
  for (const auto& [name, statistics] : tensors) {
    TensorStatistics& sum = sum_.tensors.at(name);
    if (statistics.value_count > kMaxCount - sum.value_count ||
        statistics.nonfinite_count > kMaxCount - sum.nonfinite_count) {
      throw fault(where, fmt::format("tensor {}: counts of all parts are beyond 2^63, expected "
                                     "fewer values",
                                     in_quotes(name)));
    }
    sum.merge(statistics);
  }
}

void TableMerge::add_channels(std::map<std::string, TableChannels> channels,
                              const std::string& where) {
  if (parts_.size() == 1) {
    sum_.channels = std::move(channels);
    return;
  }
  check_same_channels(channels, sum_.channels, where, parts_.front());
  for (const auto& [name, part] : channels) {
    TableChannels& sum = sum_.channels.at(name);
    sum.sums.merge(part.sums);
    if (part.maxima) sum.maxima->merge(*part.maxima);
    if (part.moments) sum.moments->merge(*part.moments);
    for (const auto& [window, moments] : part.windows) sum.windows.at(window).merge(moments);
  }
}

CalibrationTable TableMerge::take() {
  for (auto& [index, source] : samples_) sum_.samples.push_back(std::move(source.sample));
  samples_.clear();
  parts_.clear();
  return std::exchange(sum_, {});
}

}  // namespace qtool
