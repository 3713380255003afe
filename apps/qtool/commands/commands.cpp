#include "commands/commands.h"

namespace qtool::cli {

const std::vector<Command>& all_commands() {
  static const std::vector<Command> commands = {
      static_command(),    dynamic_command(),    float16_command(),
      calibrate_command(), preprocess_command(), compare_command(),
      inspect_command(),   schema_command(),     completion_command(),
  };
  return commands;
}

}  // namespace qtool::cli
