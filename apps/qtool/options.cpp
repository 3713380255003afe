#include "options.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/text.h"
#include "config/key_info.h"

namespace qtool::cli {
namespace {

/// More than any machine has; a larger number is a slip of the finger.
constexpr int kMaxThreads = 1024;

/// Values of an option that takes several words. Far fewer than CLI11's own "any number", which
/// would give brackets in a word a meaning.
constexpr int kManyWords = 100000;

Error usage(const std::string& message) { return Error(ErrorKind::Usage, message); }

using Words = std::vector<std::string>;

void set(CommandLine& out, std::string_view option, std::string_view key, Words words) {
  out.sources.settings.push_back(
      {std::string(option), std::string(key), std::move(words), /*is_option=*/true});
}

/// Each pair NAME=VALUE sets the key of that name behind `prefix`.
void set_pairs(CommandLine& out, const std::string& option, const std::string& prefix,
               const Words& pairs) {
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw usage(fmt::format("{}: found '{}', expected KEY=VALUE", option, pair));
    }
    out.sources.settings.push_back(
        {option, prefix + pair.substr(0, equals), {pair.substr(equals + 1)}});
  }
}

/// Each `NAME:1x3x224x224` sets the key of that name behind `prefix` to the sizes. A name may hold
/// colons.
void set_shapes(CommandLine& out, const std::string& option, const std::string& prefix,
                const Words& shapes) {
  for (const std::string& shape : shapes) {
    const std::size_t colon = shape.rfind(':');
    if (colon == std::string::npos || colon == 0)
      throw usage(fmt::format("{}: found '{}', expected NAME:1x3x224x224", option, shape));
    std::string sizes = shape.substr(colon + 1);
    std::ranges::replace(sizes, 'x', ',');
    out.sources.settings.push_back({option, prefix + shape.substr(0, colon), {"[" + sizes + "]"}});
  }
}

void set_report(CommandLine& out, const std::string& word) {
  const std::string extension = to_lower(std::filesystem::path(word).extension().string());
  if (extension != ".html" && extension != ".json") {
    throw usage(
        fmt::format("--report: found '{}', expected a file that ends in .html or .json", word));
  }
  set(out, "--report", "report" + extension, {word});
}

/// `text` in lines that fit beside the names of options on a common terminal.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 66;
  std::string out, line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    if (!line.empty() && line.size() + end - begin >= kWidth) out += std::exchange(line, "") + "\n";
    line += (line.empty() ? "" : " ") + text.substr(begin, end - begin);
    begin = end + 1;
  }
  return out + line;
}

std::filesystem::path path_of(std::string_view option, const std::string& word) {
  if (word.empty()) throw usage(fmt::format("{}: is empty, expected a path", option));
  return word;
}

int thread_count(const std::string& word) {
  int count = -1;
  const char* end = word.data() + word.size();
  const auto [stop, fault] = std::from_chars(word.data(), end, count);
  if (fault != std::errc() || stop != end || count < 0 || count > kMaxThreads) {
    throw usage(fmt::format("--threads: found '{}', expected a whole number from 0 to {}", word,
                            kMaxThreads));
  }
  return count;
}

/// Declares options to the parser. What they do with their words refers to `out` only, which lives
/// on.
class OptionDeclarer {
 public:
  OptionDeclarer(CLI::App& app, CommandLine& out) : app_(app), out_(out) {}

  void declare(const Command& command) {
    for (const Positional& each : command.positionals) declare_positional(each);
    for (const KeyOption& each : command.key_options) declare_key(each);
    for (const OwnOption& each : command.own_options) declare_own(each);
    group_ = "Options of every command";
    if (command.uses_config) declare_common();
    app_.set_help_flag("-h,--help", "Print this help.")->group(group_);
    app_.footer("Example:\n  " + std::string(command.example));
    app_.allow_extras();
  }

 private:
  template <typename Take>
  void value(const std::string& names, std::string_view type, const std::string& help,
             const Take& take) {
    app_.add_option_function<std::string>(names, take, wrapped(help))
        ->type_name(std::string(type))
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
        ->group(group_);
  }

  template <typename Take>
  void list(const std::string& names, std::string_view type, const std::string& help, int max_words,
            const Take& take) {
    app_.add_option_function<Words>(names, take, wrapped(help))
        ->type_name(std::string(type))
        ->expected(1, max_words)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->group(group_);
  }

  template <typename Take>
  void flag(const std::string& names, const std::string& help, const Take& take) {
    app_.add_flag_function(
            names, [take](std::int64_t) { take(); }, help)
        ->group(group_);
  }

  void declare_positional(const Positional& each);
  void declare_key(const KeyOption& each);
  void declare_own(const OwnOption& each);
  void declare_common();

  CLI::App& app_;
  CommandLine& out_;
  std::string group_ = "Options";
};

void OptionDeclarer::declare_positional(const Positional& each) {
  // Which key each word is for depends on the options beside it: see place_words.
  const auto take = [&out = out_](const std::string& word) { out.words.push_back(word); };
  app_.add_option_function<std::string>(std::string(each.name), take, std::string(each.help))
      ->type_name("");
}

void OptionDeclarer::declare_key(const KeyOption& each) {
  const std::string name(each.flag), key(each.key);
  const KeyInfo info = key_info(key);
  if (info.form == WordForm::Switch) {
    const std::string help = fmt::format("{} Opposite: {}.", info.doc, opposite_of(name));
    value(name, "", help,
          [&out = out_, name, key](const std::string& word) { set(out, name, key, {word}); });
  } else if (each.has_shapes) {
    list(name, each.value_name, info.doc, kManyWords,
         [&out = out_, name, key](const Words& words) { set_shapes(out, name, key + ".", words); });
  } else if (info.form == WordForm::Pairs) {
    list(name, "KEY=VALUE", info.doc, 1,
         [&out = out_, name, key](const Words& words) { set_pairs(out, name, key + ".", words); });
  } else if (info.form == WordForm::List) {
    list(name, "NAME...", info.doc, kManyWords,
         [&out = out_, name, key](const Words& words) { set(out, name, key, words); });
  } else {
    value(name, each.value_name, info.doc,
          [&out = out_, name, key](const std::string& word) { set(out, name, key, {word}); });
  }
}

void OptionDeclarer::declare_own(const OwnOption& each) {
  const std::string name(each.flag), help(each.help);
  if (each.value_name.empty()) {
    flag(name, help, [&out = out_, name] { out.own[name] = {}; });
  } else {
    list(name, each.value_name, help, each.is_list ? kManyWords : 1,
         [&out = out_, name](const Words& words) { out.own[name] = words; });
  }
}

void OptionDeclarer::declare_common() {
  CommandLine& out = out_;
  using Word = const std::string&;
  value("-c,--config", "FILE", "JSON config file.",
        [&out](Word word) { out.sources.file = path_of("--config", word); });
  list("--set", "KEY=VALUE", "Set a key of the config, for example calibration.method=minmax.", 1,
       [&out](const Words& words) { set_pairs(out, "--set", "", words); });
  value("-i,--input", "FILE", key_info("model.input").doc,
        [&out](Word word) { set(out, "--input", "model.input", {word}); });
  value("-o,--output", "FILE", key_info("model.output").doc,
        [&out](Word word) { set(out, "--output", "model.output", {word}); });
  value("--threads", "N", "Cores to use; default: all that this process may use.",
        [&out](Word word) { out.threads = thread_count(word); });
  flag("--json", "Print the result as one JSON document.", [&out] { out.json = true; });
  value("--report", "FILE", "Write a report, .html or .json.",
        [&out](Word word) { set_report(out, word); });
  flag("--dry-run", "Say what would be done, write nothing.", [&out] { out.dry_run = true; });
  flag("-q,--quiet", "Say nothing but errors on stderr.",
       [&out] { out.verbosity = Verbosity::Quiet; });
  flag("-v,--verbose", "Say more on stderr.", [&out] { out.verbosity = Verbosity::Verbose; });
  value("--log-file", "FILE", "Write the log to a file too.",
        [&out](Word word) { out.log_file = path_of("--log-file", word); });
  flag("--no-progress", "Show no progress.", [&out] { out.no_progress = true; });
}

}  // namespace

std::string opposite_of(std::string_view name) { return fmt::format("--no-{}", name.substr(2)); }

std::vector<std::string> switch_names(const Command& command) {
  std::vector<std::string> out;
  for (const KeyOption& each : command.key_options) {
    if (key_info(each.key).form == WordForm::Switch) out.emplace_back(each.flag);
  }
  return out;
}

void declare_options(CLI::App& app, const Command& command, CommandLine& out) {
  OptionDeclarer(app, out).declare(command);
}

}  // namespace qtool::cli
