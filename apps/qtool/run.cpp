#include "run.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/text.h"
#include "config/load.h"
#include "config/machine_preset.h"
#include "config/supported.h"
#include "files.h"
#include "standard_streams.h"
#include "terminal.h"

namespace qtool::cli {
namespace {

/// The config that the command line means, with what only options can say.
Config config_of(const CommandLine& command_line, Preset otherwise) {
  ConfigSources sources = command_line.sources;
  sources.otherwise = otherwise;
  Config config = load_config(sources);
  config.threads = command_line.threads;
  config.dry_run = command_line.dry_run;
  config.load_check = !command_line.own.contains(kNoLoadCheck);
  return config;
}

bool is_given(std::string_view name, const CommandLine& command_line, const Config& config) {
  return name.starts_with("--") ? command_line.own.contains(name) : has_value(config, name);
}

void check_requirements(const CommandLine& command_line, const Config& config) {
  const Command& command = *command_line.command;
  for (const Requirement& each : command.requirements) {
    const auto is_there = [&](std::string_view name) {
      return is_given(name, command_line, config);
    };
    if (is_there(each.key) || std::ranges::any_of(each.unless, is_there)) continue;
    throw Error(ErrorKind::Usage, fmt::format("{}: no {}, expected {} or the key {}", command.name,
                                              each.what, each.how, each.key));
  }
}

/// Options of one form of a command that were given with another one, which would not see them.
void check_forms(const CommandLine& command_line) {
  const auto given = [&](std::string_view key) {
    return std::ranges::find_if(command_line.sources.settings, [&](const Setting& setting) {
      return setting.is_option && setting.key == key;
    });
  };
  const auto none = command_line.sources.settings.end();
  for (const KeyOption& each : command_line.command->key_options) {
    if (each.only_with.empty() || command_line.own.contains(each.only_with)) continue;
    if (given(each.key) != none) {
      throw Error(ErrorKind::Usage,
                  fmt::format("{}: needs {}, found it without", each.flag, each.only_with));
    }
  }
  for (const OwnOption& each : command_line.command->own_options) {
    if (!each.writes_nothing || !command_line.own.contains(each.flag)) continue;
    if (const auto output = given("model.output"); output != none) {
      throw Error(ErrorKind::Usage,
                  fmt::format("{}: writes no output, found {} {}", each.flag, output->source,
                              printable(output->words.front(), 200)),
                  "--report FILE.json keeps the result");
    }
  }
}

}  // namespace

void deliver(const Run& run, const Result& result) {
  const ReportConfig& files = run.config.report;
  // A dry run must not take the place of the report of a real one.
  if (files.json && !run.config.dry_run) write_file(*files.json, result.json);
  if (files.html && !run.config.dry_run) write_file(*files.html, result.html);
  write_stdout(run.json ? result.json : result.text);
}

int run(const CommandLine& command_line) {
  if (!command_line.output.empty()) {
    write_stdout(command_line.output);
    return 0;
  }
  const Command& command = *command_line.command;
  Config config;
  std::string preset_reason;
  if (command.uses_config) {
    check_forms(command_line);
    const PresetChoice choice = preset_for(machine_features());
    config = config_of(command_line, choice.preset);
    if (!names_preset(command_line.sources)) preset_reason = choice.reason;
    check_requirements(command_line, config);
    check_supported(config, command.name);
    check_files(command_line, config);
    check_stdout();
  }
  Terminal terminal(command_line);
  const Run run{command,
                config,
                {terminal.log(), terminal.progress(), std::move(preset_reason)},
                command_line.json,
                command_line.own};
  int code = 0;
  try {
    code = command.run(run);
  } catch (const Error& error) {
    terminal.record(error);
    throw;
  }
  terminal.finish();
  return code;
}

}  // namespace qtool::cli
