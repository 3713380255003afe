#include "options.h"

#include <charconv>
#include <fmt/format.h>
#include <functional>

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

/// Declares the options of a command to the parser, which then fills in what was given.
class OptionDeclarer {
 public:
  OptionDeclarer(CLI::App& app, const Command& command, CommandLine& out)
      : app_(app), command_(command), out_(out) {}

  void declare() {
    for (const Positional& each : command_.positionals) declare_positional(each);
    for (const KeyOption& each : command_.key_options) declare_key(each);
    for (const OwnOption& each : command_.own_options) declare_own(each);
    if (command_.uses_config) declare_common();
    app_.set_help_flag("-h,--help", "Print this help")->group(kCommonGroup);
    app_.footer("Example:\n  " + std::string(command_.example));
    app_.allow_extras();
  }

 private:
  using Words = std::vector<std::string>;
  static constexpr const char* kCommonGroup = "Options of every command";

  CLI::Option* value(const std::string& names, const std::string& type, const std::string& help,
                     std::function<void(const std::string&)> take) {
    return app_.add_option_function<std::string>(names, std::move(take), help)
        ->type_name(type)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }

  CLI::Option* list(const std::string& names, const std::string& type, const std::string& help,
                    int max_words, std::function<void(const Words&)> take) {
    return app_.add_option_function<Words>(names, std::move(take), help)
        ->type_name(type)
        ->expected(1, max_words)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  CLI::Option* flag(const std::string& names, const std::string& help, std::function<void()> take) {
    return app_.add_flag_function(
        names, [take = std::move(take)](std::int64_t) { take(); }, help);
  }

  void set(std::string_view option, std::string_view key, Words words) {
    out_.sources.settings.push_back(
        {std::string(option), std::string(key), std::move(words), /*is_option=*/true});
  }

  void declare_positional(const Positional& each) {
    const auto take = [this, each](const std::string& word) {
      if (each.key.empty()) {
        out_.own[std::string(each.name)] = {word};
      } else {
        set(each.name, each.key, {word});
      }
    };
    app_.add_option_function<std::string>(std::string(each.name), take, std::string(each.help))
        ->type_name("");
  }

  void declare_key(const KeyOption& each) {
    const std::string name(each.flag), key(each.key);
    const KeyInfo info = key_info(key);
    if (info.form == WordForm::Switch) {
      const std::string opposite = fmt::format("--no-{}", name.substr(2));
      flag(name, info.doc, [=, this] { set(name, key, {"true"}); });
      flag(opposite, "The opposite.", [=, this] { set(opposite, key, {"false"}); });
    } else if (info.form == WordForm::Pairs) {
      list(name, "KEY=VALUE", info.doc, 1,
           [=, this](const Words& words) { set_pairs(name, key + ".", words); });
    } else if (info.form == WordForm::List) {
      list(name, "NAME...", info.doc, kManyWords,
           [=, this](const Words& words) { set(name, key, words); });
    } else {
      value(name, std::string(each.value_name), info.doc,
            [=, this](const std::string& word) { set(name, key, {word}); });
    }
  }

  void declare_own(const OwnOption& each) {
    const std::string name(each.flag), help(each.help);
    if (each.value_name.empty()) {
      flag(name, help, [=, this] { out_.own[name] = {}; });
    } else {
      list(name, std::string(each.value_name), help, 1,
           [=, this](const Words& words) { out_.own[name] = words; });
    }
  }

  void declare_common() {
    const auto common = [](CLI::Option* option) { option->group(kCommonGroup); };
    common(value("-c,--config", "FILE", "JSON config file",
                 [this](const auto& word) { set_config_file(word); }));
    common(list("--set", "KEY=VALUE",
                "Set a key of the config, for example calibration.method=minmax", 1,
                [this](const Words& words) { set_pairs("--set", "", words); }));
    common(value("-i,--input", "FILE", key_info("model.input").doc,
                 [this](const auto& word) { set("--input", "model.input", {word}); }));
    common(value("-o,--output", "FILE", key_info("model.output").doc,
                 [this](const auto& word) { set("--output", "model.output", {word}); }));
    common(value("--threads", "N", "Cores to use; default: all that this process may use",
                 [this](const auto& word) { out_.threads = parse_threads(word); }));
    common(flag("--json", "Print the result as one JSON document", [this] { out_.json = true; }));
    common(value("--report", "FILE", "Write a report, .html or .json",
                 [this](const auto& word) { set_report(word); }));
    common(flag("--dry-run", "Say what would be done, write nothing",
                [this] { out_.dry_run = true; }));
    common(flag("-q,--quiet", "Say nothing but errors on stderr",
                [this] { out_.verbosity = Verbosity::Quiet; }));
    common(flag("-v,--verbose", "Say more on stderr",
                [this] { out_.verbosity = Verbosity::Verbose; }));
    common(value("--log-file", "FILE", "Write the log to a file too",
                 [this](const auto& word) { out_.log_file = word; }));
    common(flag("--no-progress", "Show no progress", [this] { out_.no_progress = true; }));
  }

  void set_config_file(const std::string& word) {
    if (word.empty()) throw usage("--config: is empty, expected a path");
    out_.sources.file = word;
  }

  void set_report(const std::string& word) {
    const std::string extension = to_lower(std::filesystem::path(word).extension().string());
    if (extension != ".html" && extension != ".json") {
      throw usage(
          fmt::format("--report: found '{}', expected a file that ends in .html or .json", word));
    }
    set("--report", "report" + extension, {word});
  }

  static int parse_threads(const std::string& word) {
    int count = -1;
    const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (fault != std::errc() || end != word.data() + word.size() || count < 0 ||
        count > kMaxThreads) {
      throw usage(fmt::format("--threads: found '{}', expected a whole number from 0 to {}", word,
                              kMaxThreads));
    }
    return count;
  }

  void set_pairs(const std::string& option, const std::string& key_prefix, const Words& pairs) {
    for (const std::string& pair : pairs) {
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos || equals == 0)
        throw usage(fmt::format("{}: found '{}', expected KEY=VALUE", option, pair));
      out_.sources.settings.push_back(
          {option, key_prefix + pair.substr(0, equals), {pair.substr(equals + 1)}});
    }
  }

  CLI::App& app_;
  const Command& command_;
  CommandLine& out_;
};

}  // namespace

void declare_options(CLI::App& app, const Command& command, CommandLine& out) {
  OptionDeclarer(app, command, out).declare();
}

}  // namespace qtool::cli
