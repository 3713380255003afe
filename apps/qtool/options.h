#pragma once

#include "command_line.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the name is the library's
class App;
}

namespace qtool::cli {

/// The options of `command` that set a key which is true or false. To the parser they take one of
/// these words.
std::vector<std::string> switch_names(const Command& command);

/// `--no-per-channel` for `--per-channel`.
std::string opposite_of(std::string_view name);

/// Declares the options of `command` to the parser, which fills in `out` with what is given.
void declare_options(CLI::App& app, const Command& command, CommandLine& out);

}  // namespace qtool::cli
