#include "pipeline/relocate.h"

#include <optional>

namespace qtool {
namespace {

std::filesystem::path normal(const std::filesystem::path& path) {
  return std::filesystem::absolute(path).lexically_normal();
}

}  // namespace

std::filesystem::path relative_to(const std::filesystem::path& path,
                                  const std::filesystem::path& folder) {
  if (path.is_absolute()) return path;
  return normal(path).lexically_proximate(normal(folder.empty() ? "." : folder));
}

Config relative_to(const Config& config, const std::filesystem::path& folder) {
  Config out = config;
  for (std::optional<std::filesystem::path>* path :
       {&out.model.input, &out.model.output, &out.calibration.data, &out.calibration.table,
        &out.calibration.cache, &out.verify.data, &out.verify.labels, &out.report.html,
        &out.report.json}) {
    if (*path) *path = relative_to(**path, folder);
  }
  return out;
}

}  // namespace qtool
