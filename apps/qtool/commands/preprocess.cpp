#include "pipeline/preprocess.h"

#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "commands/commands.h"
#include "gates.h"
#include "report/preprocess.h"

namespace qtool::cli {
namespace {

constexpr std::string_view kCheck = "--check";

/// The number of samples that `--check` says.
std::size_t read_check(const std::string& text) {
  std::size_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw Error(ErrorKind::Usage, "--check: found '" + printable(text, 100) +
                                      "', expected a number of samples, 0 for none");
  }
  return count;
}

int run_command(const Run& run) {
  PreprocessOptions options;
  if (run.has(kCheck)) options.check_samples = read_check(run.own.find(kCheck)->second.front());
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
