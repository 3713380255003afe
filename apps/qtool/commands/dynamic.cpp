#include "pipeline/dynamic.h"

#include "check_option.h"
#include "commands/commands.h"
#include "gates.h"
#include "report/dynamic.h"

namespace qtool::cli {
namespace {

int run_command(const Run& run) {
  const DynamicOptions options{.check_samples = check_samples(run)};
  const DynamicReport report = run_dynamic(run.config, options, run.context);
  deliver(run, report);
  return exit_code_of(run, report.gates);
}

}  // namespace

Command dynamic_command() {
  return {.name = "dynamic",
          .summary = "Give a model 8-bit weights and quantize activations at run time",
          .example = "qtool dynamic -i model.onnx -o model.int8.onnx",
          .writes_model = true,
          .positionals = {{"IN", "model.input", "The model to read."},
                          {"OUT", "model.output", "The model to write."}},
          .requirements = {{"model.input", "input model", "-i FILE"},
                           {"model.output", "output model", "-o FILE"}},
          .key_options = {{"--preset", "preset", "NAME"},
                          {"--weight-type", "quantization.weight_type", "TYPE"},
                          {"--per-channel", "quantization.per_channel"},
                          {"--reduce-range", "quantization.reduce_range"},
                          {"--op-types-to-quantize", "quantization.op_types_to_quantize"},
                          {"--op-types-to-exclude", "quantization.op_types_to_exclude"},
                          {"--nodes-to-quantize", "quantization.nodes_to_quantize"},
                          {"--nodes-to-exclude", "quantization.nodes_to_exclude"},
                          {"--extra", "quantization.extra_options"},
                          {"--data", "verify.data", "DIR"},
                          {"--min-cosine", "verify.min_cosine", "X"}},
          .own_options = {{kCheck, "N",
                           "Run model and result on N made-up samples; default: 1 below 300 MB, "
                           "none without the load check."},
                          {kNoLoadCheck, "",
                           "Do not load the result in ONNX Runtime before it counts as done."}},
          .run = run_command};
}

}  // namespace qtool::cli
