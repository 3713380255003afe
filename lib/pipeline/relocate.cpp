#include "pipeline/relocate.h"

#include <optional>

namespace qtool {
namespace {

std::filesystem::path normal(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal();
}

}  // namespace

Config relative_to(const Config& config, const std::filesystem::path& folder) {
  Config out = config;
  const std::filesystem::path base = normal(folder.empty() ? "." : folder);
  for (std::optional<std::filesystem::path>* path :
       {&out.model.input, &out.model.output, &out.calibration.data, &out.calibration.table,
        &out.calibration.cache, &out.verify.data, &out.verify.labels, &out.report.html,
        &out.report.json}) {
    if (*path && (*path)->is_relative()) *path = normal(**path).lexically_proximate(base);
  }
  return out;
}

}  // namespace qtool
