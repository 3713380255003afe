#pragma once

#include "command_line.h"

namespace CLI {
class App;
}

namespace qtool::cli {

/// Declares the options of `command` to the parser, which fills in `out` with what is given.
void declare_options(CLI::App& app, const Command& command, CommandLine& out);

}  // namespace qtool::cli
