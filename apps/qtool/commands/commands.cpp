#include "commands/commands.h"

namespace qtool::cli {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = {
      compare_command(),
      preprocess_command(),
      static_command(),
      schema_command(),
      completion_command(),
  };
  return commands;
}

}  // namespace qtool::cli
