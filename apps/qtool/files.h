#pragma once

#include <filesystem>

#include "command_line.h"

namespace qtool::cli {

/// Makes sure, before any work, that every file the run will write can be written (`Io` error) and
/// that none of them is one that it reads (`Usage` error). Writes nothing.
void check_files(const CommandLine& command_line, const Config& config);

}  // namespace qtool::cli
