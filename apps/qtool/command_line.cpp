#include "command_line.h"

#include <algorithm>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/text.h"
#include "options.h"

namespace qtool::cli {
namespace {

/// Commands of the contract that are still to come.
constexpr std::string_view kFutureCommands[] = {"calibrate", "dynamic", "weights", "float16",
                                                "tune",      "bench",   "verify"};

Error usage(std::string message, std::string hint = {}) {
  return Error(ErrorKind::Usage, std::move(message), std::move(hint));
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::string otherwise) {
  const std::string nearest = nearest_name(word, known);
  return nearest.empty() ? std::move(otherwise) : fmt::format("did you mean '{}'?", nearest);
}

std::string general_help() {
  std::string out =
      "qtool quantizes ONNX models and proves that they still work.\n\nUsage: qtool COMMAND "
      "[OPTIONS]\n\nCommands:\n";
  for (const Command& command : all_commands())
    out += fmt::format("  {:<12}{}\n", command.name, command.summary);
  out +=
      "\nOptions:\n  -h,--help   Print this help; after a command: the help of the command\n  "
      "--version   Print the version\n";
  out += "\nExample:\n  qtool static -i model.onnx -o model.int8.onnx --calib-data calib_samples\n";
  return out;
}

const Command& find_command(const std::string& word) {
  std::vector<std::string> names;
  for (const Command& command : all_commands()) {
    if (command.name == word) return command;
    names.emplace_back(command.name);
  }
  const std::string what = printable(word, 200);
  if (std::ranges::count(kFutureCommands, word) > 0) {
    throw usage(fmt::format("{}: is not available yet", word), "available: " + join(names));
  }
  if (word.starts_with("-"))
    throw usage(fmt::format("{}: unknown option", what),
                "options stand behind the command: qtool COMMAND [OPTIONS]");
  throw usage(fmt::format("{}: unknown command", what),
              did_you_mean(word, names, "known: " + join(names)));
}

/// Underscores in the name of an option stand for dashes, and `--per-channel=false` for
/// `--no-per-channel`.
std::string normal_option(const std::string& word, const std::vector<std::string>& known) {
  if (!word.starts_with("--")) return word;
  const std::size_t name_end = std::min(word.find('='), word.size());
  std::string name = word.substr(0, name_end);
  std::ranges::replace(name, '_', '-');
  if (std::ranges::count(known, name) == 0) return word;
  if (name_end == word.size()) return name;
  const std::string value = word.substr(name_end + 1);
  // The parser would take the next word for the value.
  if (value.empty()) throw usage(name + ": found an empty value");
  return name + "=" + value;
}

/// CLI11 hands a switch whatever value it was given.
void refuse_value_of_switch(const std::string& word, const CLI::App& app) {
  const std::size_t name_end = word.find('=');
  if (!word.starts_with("--") || name_end == std::string::npos) return;
  const CLI::Option* option = app.get_option_no_throw(word.substr(0, name_end));
  if (option != nullptr && option->get_expected_max() == 0) {
    throw usage(fmt::format("{}: takes no value, found '{}'", word.substr(0, name_end),
                            printable(word.substr(name_end + 1), 200)));
  }
}

/// What the parser could not place: options that nobody knows, then words too many.
void refuse_leftovers(const std::vector<std::string>& leftovers,
                      const std::vector<std::string>& known) {
  for (const std::string& word : leftovers) {
    if (!word.starts_with("-") || word == "--" || word == "-") continue;
    const std::string name = word.substr(0, word.find('='));
    throw usage(fmt::format("{}: unknown option", printable(name, 200)),
                did_you_mean(name, known, "--help lists the options"));
  }
  for (const std::string& word : leftovers) {
    if (word != "--") throw usage(fmt::format("unexpected argument '{}'", printable(word, 200)));
  }
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back(fmt::format("--{}", name));
    for (const std::string& name : option->get_snames()) out.push_back(fmt::format("-{}", name));
  }
  return out;
}

void parse_options(CLI::App& app, std::vector<std::string> words, CommandLine& out) {
  const std::vector<std::string> known = names_of(app);
  for (std::string& word : words) {
    if (word == "--") break;
    word = normal_option(word, known);
    refuse_value_of_switch(word, app);
  }
  const std::string last = words.empty() ? "" : words.back();
  try {
    // The parser takes its words from the back.
    std::ranges::reverse(words);
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    out.output = app.help();
    return;
  } catch (const CLI::ArgumentMismatch&) {
    // Words are taken whatever they are, so only the last option can have been left without.
    throw usage(fmt::format("{}: needs a value", printable(last, 200)));
  } catch (const CLI::Error& error) {
    throw usage(fmt::format("command line: {}", error.what()));
  }
  refuse_leftovers(app.remaining(), known);
}

}  // namespace

std::vector<std::string> option_names(const Command& command) {
  CLI::App app;
  CommandLine ignored;
  declare_options(app, command, ignored);
  return names_of(app);
}

CommandLine parse_command_line(std::vector<std::string> words) {
  CommandLine out;
  if (words.empty())
    throw usage("no command given, expected qtool COMMAND [OPTIONS]",
                "qtool --help lists the commands");
  const std::string first = words.front();
  words.erase(words.begin());
  if (first == "--version") {
    out.output = "qtool " QTOOL_VERSION "\n";
  } else if (first == "-h" || first == "--help") {
    out.output = general_help();
  } else {
    out.command = &find_command(first);
    CLI::App app(std::string(out.command->summary) + ".", "qtool " + first);
    declare_options(app, *out.command, out);
    parse_options(app, std::move(words), out);
  }
  return out;
}

}  // namespace qtool::cli
