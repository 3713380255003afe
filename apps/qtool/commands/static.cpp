#include "pipeline/static.h"

#include "commands/commands.h"
#include "gates.h"
#include "report/static.h"

namespace qtool::cli {
namespace {

int run_static_command(const Run& run) {
  const StaticReport report = run_static(run.config, run.context);
  deliver(run, report);
  return exit_code_of(run, report.gates);
}

}  // namespace

Command static_command() {
  return {.name = "static",
          .summary = "Quantize a model with ranges measured on calibration data",
          .example = "qtool static -i model.onnx -o model.int8.onnx --calib-data calib_samples",
          .writes_model = true,
          .positionals = {{"IN", "model.input", "The model to read."},
                          {"OUT", "model.output", "The model to write."}},
          .requirements = {{"model.input", "input model", "-i FILE"},
                           {"model.output", "output model", "-o FILE"},
                           {"calibration.data",
                            "calibration data",
                            "--calib-data DIR",
                            {"calibration.table", "calibration.cache"}}},
          .key_options = {{"--preset", "preset", "NAME"},
                          {"--calib-data", "calibration.data", "DIR"},
                          {"--calib-table", "calibration.table", "FILE"},
                          {"--calib-cache", "calibration.cache", "FILE"},
                          {"--max-samples", "calibration.max_samples", "N"},
                          {"--calibrate-method", "calibration.method", "METHOD"},
                          {"--allow-nonfinite", "calibration.allow_nonfinite"},
                          {"--quant-format", "quantization.quant_format", "FORMAT"},
                          {"--activation-type", "quantization.activation_type", "TYPE"},
                          {"--weight-type", "quantization.weight_type", "TYPE"},
                          {"--per-channel", "quantization.per_channel"},
                          {"--reduce-range", "quantization.reduce_range"},
                          {"--refuse-quantized", "quantization.refuse_quantized"},
                          {"--op-types-to-quantize", "quantization.op_types_to_quantize"},
                          {"--op-types-to-exclude", "quantization.op_types_to_exclude"},
                          {"--nodes-to-quantize", "quantization.nodes_to_quantize"},
                          {"--nodes-to-exclude", "quantization.nodes_to_exclude"},
                          {"--extra", "quantization.extra_options"}},
          .own_options = {{kNoLoadCheck, "",
                           "Do not load the result in ONNX Runtime before it counts as done."}},
          .run = run_static_command};
}

}  // namespace qtool::cli
