#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "command.h"

namespace qtool::cli {

/// `--check N`: on how many samples the result is run beside the original.
constexpr std::string_view kCheck = "--check";

/// What the command line says of it; a `Usage` error where that is no number.
std::optional<std::size_t> check_samples(const Run& run);

}  // namespace qtool::cli
