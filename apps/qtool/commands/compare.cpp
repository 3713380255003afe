#include "pipeline/compare.h"

#include "base/error.h"
#include "commands/commands.h"
#include "gates.h"
#include "report/compare.h"

namespace qtool::cli {
namespace {

int run_compare_command(const Run& run) {
  if (run.has("--layers")) {
    throw Error(ErrorKind::Usage, "--layers: comparing layer by layer is not available yet",
                "without it the outputs are compared");
  }
  const CompareReport report = run_compare(run.config, run.context);
  deliver(run, report);
  return exit_code_of(run, report.gates);
}

}  // namespace

Command compare_command() {
  return {.name = "compare",
          .summary = "Run two models side by side and tell how far their outputs are apart",
          .example = "qtool compare model.onnx model.int8.onnx --data eval --min-cosine 0.99",
          .positionals = {{"FLOAT", "model.input", "The reference model."},
                          {"QUANTIZED", "model.output", "The model to compare with it."}},
          .requirements = {{"model.input", "reference model", "FLOAT"},
                           {"model.output", "model to compare", "QUANTIZED"},
                           {"verify.data", "samples", "--data DIR"}},
          .key_options = {{"--data", "verify.data", "DIR"},
                          {"--labels", "verify.labels", "FILE"},
                          {"--min-cosine", "verify.min_cosine", "X"},
                          {"--min-sqnr-db", "verify.min_sqnr_db", "X"},
                          {"--max-top1-drop", "verify.max_top1_drop", "X"},
                          {"--max-latency-ratio", "verify.max_latency_ratio", "X"},
                          {"--max-size-ratio", "verify.max_size_ratio", "X"},
                          {"--allow-nonfinite", "calibration.allow_nonfinite"}},
          .own_options = {{"--layers", "", "Compare layer by layer too (not available yet)."}},
          .run = run_compare_command};
}

}  // namespace qtool::cli
