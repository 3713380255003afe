#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/json.h"
#include "pipeline/run_context.h"
#include "report/document.h"

namespace qtool::cli {

/// An option that sets one key of the config; its help is the key's own sentence. True-or-false
/// keys become a switch and, with `--no-` before the name, its opposite.
struct KeyOption {
  std::string_view flag;  ///< `--calib-data`
  std::string_view key;   ///< `calibration.data`; a section or map: the option takes NAME=VALUE
  std::string_view value_name = "VALUE";
  std::string_view only_with{};  ///< own option without which it says nothing; empty: none
  bool has_shapes = false;       ///< of a map: takes NAME:1x3x224x224 instead
};

/// An option of one command that is no key of the config.
struct OwnOption {
  std::string_view flag;
  std::string_view value_name;  ///< empty: a switch
  std::string_view help;
  bool is_list = false;         ///< takes several words
  bool writes_nothing = false;  ///< with it the command leaves `model.output` alone
};

/// A word without a flag; its place in the list is its place on the command line.
struct Positional {
  std::string_view name;  ///< `IN`
  std::string_view key;   ///< config key that it sets; empty: found in Run::own under its name
  std::string_view help;
};

/// A key without which the command cannot run.
struct Requirement {
  std::string_view key;
  std::string_view what;  ///< `input model`
  std::string_view how;   ///< `-i FILE`
  /// Keys and own options of which one makes it needless.
  std::vector<std::string_view> unless{};
};

struct Run;

/// One command of the tool: what it takes, and the function that does it.
struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view example;
  bool uses_config = true;    ///< takes the options that every command on models has
  bool writes_model = false;  ///< `model.output` is written, a model or another file
  std::vector<Positional> positionals{};
  std::vector<Requirement> requirements{};
  std::vector<KeyOption> key_options{};
  std::vector<OwnOption> own_options{};
  int (*run)(const Run& run) = nullptr;  ///< gives the exit code
};

/// What the function of a command is given. The config is loaded, complete and supported; files to
/// be written can be.
struct Run {
  const Command& command;
  const Config& config;
  RunContext context;
  bool json = false;
  std::map<std::string, std::vector<std::string>, std::less<>>
      own{};  ///< own options that were given, by flag

  bool has(std::string_view flag) const { return own.contains(flag); }
};

/// A result in the forms that a user may ask for.
struct Result {
  std::string text;
  std::string json;
  std::string html;
};

/// Prints the result to stdout, as text or as JSON, and writes the report files that the config
/// names.
void deliver(const Run& run, const Result& result);

/// The same for a report that has a `to_document` and a `to_json`.
template <typename Report>
void deliver(const Run& run, const Report& report) {
  const Document document = to_document(report);
  deliver(run, Result{to_text(document), to_json_text(to_json(report)), to_html(document)});
}

/// The option of commands that write a model.
constexpr std::string_view kNoLoadCheck = "--no-load-check";

/// Every command that works, in the order of --help.
const std::vector<Command>& all_commands();

}  // namespace qtool::cli
