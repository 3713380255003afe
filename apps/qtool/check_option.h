#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "command.h"

namespace qtool::cli {

/// The option of commands that run source and result side by side.
constexpr std::string_view kCheck = "--check";

/// The number of samples that `--check` says; nothing where it was not given. A `Usage` error where
/// it is no number.
std::optional<std::size_t> check_samples_of(const Run& run);

}  // namespace qtool::cli
