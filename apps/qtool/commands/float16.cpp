#include "pipeline/float16.h"

#include "check_option.h"
#include "commands/commands.h"
#include "config/supported.h"
#include "gates.h"
#include "report/float16.h"

namespace qtool::cli {
namespace {

constexpr std::string_view kAuto = "--auto";

int run_command(const Run& run) {
  Float16Options options;
  options.check_samples = check_samples(run);
  Config config = run.config;
  if (run.has(kAuto) && !config.float16.auto_search) config.float16.auto_search.emplace();
  check_supported(config, run.command.name);
  const Float16Report report = run_float16(config, options, run.context);
  deliver(run, report);
  return exit_code_of(run, report.gates);
}

}  // namespace

Command float16_command() {
  return {.name = "float16",
          .summary = "Give a model's float32 tensors 16 bits: float16 or bfloat16",
          .example = "qtool float16 -i model.onnx -o model.fp16.onnx",
          .writes_model = true,
          .positionals = {{"IN", "model.input", "The model to read."},
                          {"OUT", "model.output", "The model to write."}},
          .requirements = {{"model.input", "input model", "-i FILE"},
                           {"model.output", "output model", "-o FILE"}},
          .key_options = {{"--type", "float16.type", "TYPE"},
                          {"--keep-io-types", "float16.keep_io_types", "true|false|NAMES"},
                          {"--op-block-list", "float16.op_block_list"},
                          {"--node-block-list", "float16.node_block_list"},
                          {"--min-positive-val", "float16.min_positive_val", "X"},
                          {"--max-finite-val", "float16.max_finite_val", "X"},
                          {"--data", "verify.data", "DIR"},
                          {"--min-cosine", "verify.min_cosine", "X"}},
          .own_options = {{kAuto, "",
                           "Find by comparison on --data which nodes must stay in float32; the "
                           "tolerances are float16.auto."},
                          {kCheck, "N",
                           "Run source and result side by side on N samples, those of --data or "
                           "made-up ones; default: 1 below 300 MB."},
                          {kNoLoadCheck, "",
                           "Do not load the result in ONNX Runtime before it counts as done."}},
          .run = run_command};
}

}  // namespace qtool::cli
