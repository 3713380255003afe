#include "pipeline/preprocess.h"

#include "check_option.h"
#include "commands/commands.h"
#include "gates.h"
#include "report/preprocess.h"

namespace qtool::cli {
namespace {

int run_command(const Run& run) {
  const PreprocessOptions options{.check_samples = check_samples(run)};
  const PreprocessResult result = run_preprocess(run.config, options, run.context);
  deliver(run, result);
  return exit_code_of(run, result.gates);
}

}  // namespace

Command preprocess_command() {
  return {.name = "preprocess",
          .summary = "Simplify a model without changing what it computes",
          .example = "qtool preprocess -i model.onnx -o model.simple.onnx",
          .writes_model = true,
          .positionals = {{"IN", "model.input", "The model to read."},
                          {"OUT", "model.output", "The model to write."}},
          .requirements = {{"model.input", "input model", "-i FILE"},
                           {"model.output", "output model", "-o FILE"}},
          .key_options = {{"--opset", "preprocess.opset", "N"},
                          {"--dim", "preprocess.dims", "NAME=SIZE"},
                          {"--override-shapes", "preprocess.override_shapes", "NAME:SIZES...",
                           /*only_with=*/"", /*has_shapes=*/true},
                          {"--fusions", "preprocess.fusions"},
                          {"--optimization", "preprocess.optimization", "LEVEL"},
                          {"--data", "verify.data", "DIR"},
                          {"--min-cosine", "verify.min_cosine", "X"}},
          .own_options = {{kCheck, "N",
                           "Compare original and result on N samples, those of --data or made-up "
                           "ones; default: 1 below 500 MB."},
                          {kNoLoadCheck, "",
                           "Do not load the result in ONNX Runtime before it counts as done."}},
          .run = run_command};
}

}  // namespace qtool::cli
