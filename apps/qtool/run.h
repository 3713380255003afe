#pragma once

#include "command_line.h"

namespace qtool::cli {

/// Does what the command line asks for and gives the exit code. Everything that can be known to be
/// wrong is found before the work starts.
int run(const CommandLine& command_line);

}  // namespace qtool::cli
