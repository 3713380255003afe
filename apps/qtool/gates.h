#pragma once

#include <span>

#include "command.h"
#include "report/comparison.h"

namespace qtool::cli {

/// The exit code of a run with these gates; those that are not met are named in one line of the
/// log.
int exit_code_of(const Run& run, std::span<const Gate> gates);

}  // namespace qtool::cli
