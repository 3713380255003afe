#pragma once

#include <filesystem>

#include "config/config.h"

namespace qtool {

/// A path, or a config, as it would read in a file inside `folder`: relative paths, which are
/// relative to the current folder here, are relative to that one there. Absolute paths stay.
std::filesystem::path relative_to(const std::filesystem::path& path,
                                  const std::filesystem::path& folder);
Config relative_to(const Config& config, const std::filesystem::path& folder);

}  // namespace qtool
