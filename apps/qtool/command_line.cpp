#include "command_line.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/text.h"
#include "options.h"

namespace qtool::cli {
namespace {

/// Commands of the contract that are still to come.
constexpr std::string_view kFutureCommands[] = {"weights", "float16", "tune", "bench", "verify"};

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
      "qtool quantizes ONNX models and proves that they still work.\n\n"
      "Usage: qtool COMMAND [OPTIONS]\n\n"
      "Commands:\n";
  for (const Command& command : all_commands())
    out += fmt::format("  {:<12}{}\n", command.name, command.summary);
  out +=
      "\nOptions:\n"
      "  -h,--help   Print this help; after a command: the help of the command\n"
      "  --version   Print the version\n"
      "\nExample:\n"
      "  qtool static -i model.onnx -o model.int8.onnx --calib-data calib_samples\n";
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

/// The options of a command, as the parser declares them and as users write them.
struct KnownOptions {
  std::vector<std::string> all;       ///< opposites of switches included
  std::vector<std::string> switches;  ///< of keys that are true or false
};

KnownOptions known_options(const CLI::App& app, const Command& command) {
  KnownOptions out;
  out.switches = switch_names(command);
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      out.all.push_back(fmt::format("--{}", name));
      if (std::ranges::count(out.switches, out.all.back()) > 0)
        out.all.push_back(opposite_of(out.all.back()));
    }
    for (const std::string& name : option->get_snames())
      out.all.push_back(fmt::format("-{}", name));
  }
  return out;
}

/// A word in the one spelling that the parser knows: dashes for underscores in the name of an
/// option, and `--per-channel=false` for `--no-per-channel`.
std::string normal_word(const std::string& word, const KnownOptions& known) {
  if (!word.starts_with("--")) return word;
  const std::size_t name_end = std::min(word.find('='), word.size());
  std::string name = word.substr(0, name_end);
  std::ranges::replace(name, '_', '-');
  if (std::ranges::count(known.all, name) == 0) return word;
  // The parser would take the next word for the value.
  if (name_end + 1 == word.size()) throw usage(name + ": found an empty value");
  const std::string value = word.substr(name_end);
  for (const std::string& each : known.switches) {
    if (name == each && value.empty()) return each + "=true";
    if (name != opposite_of(each)) continue;
    if (!value.empty())
      throw usage(fmt::format("{}: takes no value, found '{}'", name, value.substr(1)));
    return each + "=false";
  }
  return name + value;
}

/// What CLI11 would let pass: a value for an option that takes none, and the name of an option for
/// the value of another.
void check_values(const std::vector<std::string>& words, const CLI::App& app,
                  const KnownOptions& known) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::size_t name_end = std::min(words[i].find('='), words[i].size());
    const std::string name = words[i].substr(0, name_end);
    const CLI::Option* option = words[i].starts_with("-") ? app.get_option_no_throw(name) : nullptr;
    if (option == nullptr) continue;
    const bool takes_value = option->get_expected_max() > 0, has_value = name_end < words[i].size();
    if (has_value && !takes_value)
      throw usage(
          fmt::format("{}: takes no value, found '{}'", name, words[i].substr(name_end + 1)));
    if (!takes_value || has_value || i + 1 == words.size()) continue;
    const std::string next = words[i + 1].substr(0, words[i + 1].find('='));
    if (std::ranges::count(known.all, next) > 0)
      throw usage(fmt::format("{}: needs a value, found the option {}", name, next));
  }
}

void refuse_unknown_options(const std::vector<std::string>& leftovers, const KnownOptions& known) {
  for (const std::string& word : leftovers) {
    if (word == "--") return;
    if (!word.starts_with("-") || word == "-") continue;
    const std::string name = word.substr(0, word.find('='));
    // One letter is near to every other.
    const auto& candidates = name.size() > 2 ? known.all : std::vector<std::string>();
    throw usage(fmt::format("{}: unknown option", printable(name, 200)),
                did_you_mean(name, candidates, "--help lists the options"));
  }
}

/// Hands the words without an option to the positional keys that no option has set.
void place_words(CommandLine& out) {
  auto word = out.words.begin();
  for (const Positional& each : out.command->positionals) {
    if (word == out.words.end()) return;
    const bool is_set = std::ranges::any_of(out.sources.settings, [&](const Setting& setting) {
      return setting.is_option && setting.key == each.key;
    });
    if (is_set) continue;
    if (each.key.empty()) {
      out.own[std::string(each.name)] = {*word++};
    } else {
      out.sources.settings.push_back(
          {std::string(each.name), std::string(each.key), {*word++}, /*is_option=*/true});
    }
  }
  if (word != out.words.end())
    throw usage(fmt::format("unexpected argument '{}'", printable(*word, 200)));
}

/// Gives false where only the help was asked for.
bool parse_options(CLI::App& app, std::vector<std::string> words, CommandLine& out) {
  const KnownOptions known = known_options(app, *out.command);
  for (std::string& word : words) {
    if (word == "--") break;
    word = normal_word(word, known);
  }
  check_values(words, app, known);
  const std::string last = words.empty() ? "" : words.back();
  try {
    // The parser takes its words from the back.
    std::ranges::reverse(words);
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    out.output = app.help();
    return false;
  } catch (const CLI::ArgumentMismatch&) {
    // Words are taken whatever they are, so only the last option can have been left without.
    throw usage(fmt::format("{}: needs a value", printable(last, 200)));
  } catch (const CLI::Error& error) {
    throw usage(fmt::format("command line: {}", error.what()));
  }
  std::vector<std::string> leftovers = app.remaining();
  refuse_unknown_options(leftovers, known);
  std::ranges::copy_if(leftovers, std::back_inserter(out.words),
                       [](const std::string& word) { return word != "--"; });
  return true;
}

}  // namespace

std::vector<std::string> option_names(const Command& command) {
  CLI::App app;
  CommandLine ignored;
  declare_options(app, command, ignored);
  return known_options(app, command).all;
}

CommandLine parse_command_line(std::vector<std::string> words) {
  CommandLine out;
  if (words.empty())
    throw usage("no command given, expected qtool COMMAND [OPTIONS]",
                "qtool --help lists the commands");
  // `qtool help static` is what many other tools call `qtool static --help`.
  if (words.front() == "help") words = {words.size() > 1 ? words[1] : "--help", "--help"};
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
    if (parse_options(app, std::move(words), out)) place_words(out);
  }
  return out;
}

}  // namespace qtool::cli
