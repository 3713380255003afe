#include "pipeline/range_cache.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/some_of.h"
#include "base/text.h"
#include "calibrate/table.h"
#include "config/enum_names.h"
#include "model/messages.h"

namespace qtool {
namespace {

/// Taken apart, a text takes many times its size.
constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;

std::string where(const Config& config) { return printable(config.calibration.cache->string()); }

void check_method(CalibrationMethod found, const Config& config) {
  const CalibrationMethod expected = config.calibration.method;
  if (found == expected) return;
  throw Error(ErrorKind::Input,
              fmt::format("{}: calibration cache of another method: {}, expected {}, that of "
                          "calibration.method",
                          where(config), enum_name(found), enum_name(expected)),
              "without the file the ranges are measured anew");
}

std::string named(std::span<const std::string> missing) {
  std::vector<std::string> names;
  for (const std::string& name : missing) names.push_back(in_quotes(name));
  return some_of(names);
}

Range range_of(const std::string& name, const CachedTensor& tensor, const Config& config) {
  const double deviation = tensor.spread ? tensor.spread->deviation : 0;
  if (tensor.lowest.size() == 1) return {tensor.lowest.front(), tensor.highest.front(), deviation};
  throw Error(ErrorKind::Input,
              fmt::format("{}: tensor {} has {} ranges, one per channel, expected one",
                          where(config), in_quotes(name), tensor.lowest.size()));
}

}  // namespace

std::optional<RangeCache> read_range_cache(const Config& config,
                                           const std::function<void(const std::string&)>& warn) {
  const auto& path = config.calibration.cache;
  if (!path || !std::filesystem::exists(*path)) return std::nullopt;
  if (is_table_file(*path)) {
    throw Error(ErrorKind::Input,
                where(config) + ": is a calibration table, expected ONNX Runtime's JSON cache",
                "tables are read by the key calibration.table");
  }
  const std::string text = read_file(*path, kMaxBytes);
  CalibrationCache cache = parse_calibration_cache(text, where(config));
  const bool smooth_quant = config.quantization.extra_options.smooth_quant;
  if (cache.smooth_quant != smooth_quant) {
    warn(
        fmt::format("{}: made with smooth_quant {}, this run has {}: the ranges are measured anew "
                    "and the cache is overwritten",
                    where(config), cache.smooth_quant, smooth_quant));
    return std::nullopt;
  }
  check_method(cache.method, config);
  Sha256 hash;
  hash.update(text);
  return RangeCache{std::move(cache), hash.hex_digest()};
}

TensorRanges take_ranges(const CalibrationCache& cache, std::span<const std::string> tensors,
                         const Config& config,
                         const std::function<void(const std::string&)>& warn) {
  TensorRanges out;
  std::vector<std::string> missing;
  for (const std::string& name : tensors) {
    if (const auto found = cache.tensors.find(name); found != cache.tensors.end())
      out.emplace(name, range_of(name, found->second, config));
    else if (std::ranges::find(cache.without_range, name) == cache.without_range.end())
      missing.push_back(name);
  }
  if (missing.empty()) return out;
  const std::string what =
      fmt::format("{}: calibration cache lacks tensors: no {}", where(config), named(missing));
  if (config.preset != Preset::OnnxRuntime) {
    throw Error(ErrorKind::Input,
                fmt::format("{}, expected all {} of this run", what, tensors.size()),
                "it is of another model, or was made with other options");
  }
  warn(what + "; they stay in float");
  return out;
}

}  // namespace qtool
