#include "pipeline/prepare.h"

#include <algorithm>

#include "quantize/needed_opset.h"

namespace qtool {

namespace {

/// onnxruntime.quantization infers shapes and changes nothing else.
PreprocessReport infer_only(Model& model) {
  PreprocessReport report;
  infer_shapes(model, report.notes);
  return report;
}

PreprocessReport prepare(Model& model, const Config& config, const Placement& placement) {
  return placement.follows_onnxruntime && !config.preprocess.enabled
             ? infer_only(model)
             : preprocess(model, config.preprocess);
}

}  // namespace

PreprocessReport prepare_for_quantization(Model& model, const Config& config) {
  const Placement& placement = placement_for(config.preset);
  PreprocessReport report = prepare(model, config, placement);
  // A later opset may allow more operators to be quantized, which may need a still later one.
  for (std::int64_t needed = 0;;) {
    needed = needed_opset(model, config.quantization, placement);
    if (model.opset() >= needed) return report;
    upgrade_opset(model, needed);
    infer_shapes(model, report.notes);
  }
}

PreprocessReport prepare_for_dynamic(Model& model, const Config& config) {
  constexpr std::int64_t kFirstWithDynamicQuantizeLinear = 11;
  PreprocessReport report = prepare(model, config, placement_for(config.preset));
  if (model.opset() < kFirstWithDynamicQuantizeLinear) {
    upgrade_opset(model, kFirstWithDynamicQuantizeLinear);
    infer_shapes(model, report.notes);
  }
  return report;
}

}  // namespace qtool
