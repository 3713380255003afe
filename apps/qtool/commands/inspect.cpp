#include "pipeline/inspect.h"

#include <fmt/format.h>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "commands/commands.h"
#include "pipeline/describe_table.h"
#include "report/inspect.h"
#include "report/table.h"

namespace qtool::cli {
namespace {

/// A calibration table is told by its content, whatever its name.
int inspect_table(const Run& run) {
  if (run.has("--explain")) {
    throw Error(ErrorKind::Usage, fmt::format("--explain: '{}' is a calibration table, expected a "
                                              "model",
                                              printable(run.config.model.input->string())));
  }
  deliver(run, run_inspect_table(run.config));
  return 0;
}

int run_inspect_command(const Run& run) {
  if (run.has("--diff")) {
    throw Error(ErrorKind::Usage, "--diff: comparing two models is not available yet",
                "qtool inspect --json of both gives texts that can be compared");
  }
  if (is_table(*run.config.model.input)) return inspect_table(run);
  std::optional<std::string> node;
  if (const auto given = run.own.find("--explain"); given != run.own.end()) {
    node = given->second.front();
  }
  const InspectReport report = run_inspect(run.config, node, run.context);
  deliver(run, report);
  return 0;
}

}  // namespace

Command inspect_command() {
  return {
      .name = "inspect",
      .summary = "Tell what a model holds and what would be quantized of it, or what a table holds",
      .example = "qtool inspect model.onnx --explain conv1",
      .positionals = {{"MODEL", "model.input", "The model, or a calibration table."}},
      .requirements = {{"model.input", "model", "MODEL"}},
      .key_options = {{"--preset", "preset", "NAME"}},
      .own_options = {{"--explain", "NODE",
                       "Show one node: its inputs, outputs and what becomes of it."},
                      {"--diff", "OTHER",
                       "Show what differs in another model (not available yet)."}},
      .run = run_inspect_command};
}

}  // namespace qtool::cli
