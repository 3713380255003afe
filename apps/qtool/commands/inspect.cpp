#include "pipeline/inspect.h"

#include <optional>
#include <string>

#include "base/error.h"
#include "commands/commands.h"
#include "report/inspect.h"

namespace qtool::cli {
namespace {

int run_inspect_command(const Run& run) {
  if (run.has("--diff")) {
    throw Error(ErrorKind::Usage, "--diff: comparing two models is not available yet",
                "qtool inspect --json of both gives texts that can be compared");
  }
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
  return {.name = "inspect",
          .summary = "Tell what a model holds, what would be quantized of it and what not, and why",
          .example = "qtool inspect model.onnx --explain conv1",
          .positionals = {{"MODEL", "model.input", "The model."}},
          .requirements = {{"model.input", "model", "MODEL"}},
          .own_options = {{"--explain", "NODE",
                           "Show one node: its inputs, outputs and what becomes of it."},
                          {"--diff", "OTHER",
                           "Show what differs in another model (not available yet)."}},
          .run = run_inspect_command};
}

}  // namespace qtool::cli
