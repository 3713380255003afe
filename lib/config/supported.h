#pragma once

#include <string_view>

#include "config/config.h"

namespace qtool {

/// Refuses, with a `Usage` error naming the key, what the config may say but `command` cannot do
/// yet.
void check_supported(const Config& config, std::string_view command);

}  // namespace qtool
