#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "config/load.h"

namespace qtool::cli {

/// How much a run says on stderr.
enum class Verbosity { Quiet, Normal, Verbose };

/// What the words of a command line mean; nothing is looked up or checked yet beyond their form.
struct CommandLine {
  const Command* command = nullptr;  ///< null: only `output` is wanted
  std::string output;                ///< text of --help or --version
  ConfigSources sources;
  std::map<std::string, std::vector<std::string>, std::less<>> own;  ///< options of one command
  std::vector<std::string> words;                                    ///< without an option
  int threads = 0;
  bool json = false, dry_run = false, no_progress = false, load_check = true;
  Verbosity verbosity = Verbosity::Normal;
  std::optional<std::filesystem::path> log_file;
};

/// A `Usage` error names the option and, where there is one near, what was meant.
CommandLine parse_command_line(std::vector<std::string> words);

/// Every option of `command`, each as it is written on the command line, in the order of its help.
std::vector<std::string> option_names(const Command& command);

}  // namespace qtool::cli
