#include "commands/commands.h"
#include "config/load.h"
#include "standard_streams.h"

namespace qtool::cli {
namespace {

int run_schema(const Run&) {
  write_stdout(config_schema());
  return 0;
}

}  // namespace

Command schema_command() {
  return {.name = "schema",
          .summary = "Print the JSON Schema of the config file",
          .example = "qtool schema > qtool.schema.json",
          .uses_config = false,
          .run = run_schema};
}

}  // namespace qtool::cli
