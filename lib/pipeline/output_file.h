#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "config/config.h"

namespace qtool {

/// A file that a run read or wrote.
struct FileDigest {
  std::filesystem::path path;
  std::string sha256;
  std::uint64_t bytes = 0;
};

/// Of a file with this content.
FileDigest digest_of(const std::filesystem::path& path, std::string_view content);

/// Writes `model.output`, and beside it the manifest where the config wants one; both appear when
/// both are complete.
void publish_file(const Config& config, std::string_view content, const std::string& manifest);

}  // namespace qtool
