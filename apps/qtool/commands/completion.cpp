#include <fmt/format.h>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "command_line.h"
#include "commands/commands.h"
#include "config/enum_names.h"
#include "standard_streams.h"

namespace qtool::cli {
namespace {

std::string command_names() {
  std::vector<std::string> names;
  for (const Command& command : all_commands()) names.emplace_back(command.name);
  return join(names, " ");
}

std::string bash_script() {
  std::string cases;
  for (const Command& command : all_commands()) {
    cases +=
        fmt::format("    {}) words=\"{}\" ;;\n", command.name, join(option_names(command), " "));
  }
  return fmt::format(R"(# bash completion for qtool; load it by: source <(qtool completion bash)
_qtool() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "{} --help --version" -- "$current")
    return
  fi
  [[ $current == -* ]] || return
  case "${{COMP_WORDS[1]}}" in
{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _qtool qtool
)",
                     command_names(), cases);
}

std::string zsh_script() {
  std::string cases, commands;
  for (const Command& command : all_commands()) {
    commands += fmt::format("    '{}:{}'\n", command.name, command.summary);
    cases +=
        fmt::format("    {}) compadd -- {} ;;\n", command.name, join(option_names(command), " "));
  }
  return fmt::format(R"(#compdef qtool
# zsh completion for qtool; put it into a folder of $fpath under the name _qtool
_qtool() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  if [[ $PREFIX != -* ]]; then
    _files
    return
  fi
  case $words[2] in
{}  esac
}}
compdef _qtool qtool
)",
                     commands, cases);
}

std::string fish_script() {
  std::string out =
      "# fish completion for qtool; put it into ~/.config/fish/completions/qtool.fish\n";
  for (const Command& command : all_commands()) {
    out += fmt::format("complete -c qtool -n __fish_use_subcommand -f -a {} -d '{}'\n",
                       command.name, command.summary);
    for (const std::string& name : option_names(command)) {
      const bool is_long = name.starts_with("--");
      out += fmt::format("complete -c qtool -n '__fish_seen_subcommand_from {}' -{} {}\n",
                         command.name, is_long ? 'l' : 's', name.substr(is_long ? 2 : 1));
    }
  }
  return out;
}

int run_completion(const Run& run) {
  const auto shell = run.own.find("SHELL");
  const std::string name = shell == run.own.end() ? "" : shell->second.front();
  if (name == "bash") {
    write_stdout(bash_script());
  } else if (name == "zsh") {
    write_stdout(zsh_script());
  } else if (name == "fish") {
    write_stdout(fish_script());
  } else {
    throw Error(ErrorKind::Usage,
                name.empty()
                    ? "completion: no shell given, expected bash, zsh or fish"
                    : fmt::format("completion: unknown shell '{}', expected bash, zsh or fish",
                                  printable(name, 200)));
  }
  return 0;
}

}  // namespace

Command completion_command() {
  return {.name = "completion",
          .summary = "Print a completion script for bash, zsh or fish",
          .example = "source <(qtool completion bash)",
          .uses_config = false,
          .positionals = {{"SHELL", "", "bash, zsh or fish"}},
          .run = run_completion};
}

}  // namespace qtool::cli
