#include "pipeline/prepare.h"

#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "model/widen_bfloat16.h"
#include "pipeline/fuse_quantized_gelus.h"
#include "quantize/needed_opset.h"

namespace qtool {

namespace {

/// onnxruntime.quantization infers shapes and changes nothing else.
PreprocessReport infer_only(Model& model) {
  PreprocessReport report;
  infer_shapes(model, report.notes);
  return report;
}

/// False, and the model as it was, where an operator of it cannot be converted and Q and DQ can do
/// without.
bool raise(Model& model, std::int64_t opset, const Config& config,
           std::vector<std::string>& notes) {
  Model raised = model.clone();
  try {
    upgrade_opset(raised, opset);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input || !can_stay_below(config.quantization)) throw;
    notes.push_back(
        fmt::format("{}: QuantizeLinear and DequantizeLinear are those of ONNX Runtime "
                    "(com.microsoft)",
                    error.what()));
    return false;
  }
  model = std::move(raised);
  return true;
}

/// A later opset may allow more operators to be quantized, which may need a still later one.
void raise_as_needed(Model& model, const Config& config, const Placement& placement,
                     std::vector<std::string>& notes) {
  for (std::int64_t needed = 0;;) {
    needed = needed_opset(model, config.quantization, placement);
    if (model.opset() >= needed || !raise(model, needed, config, notes)) return;
    infer_shapes(model, notes);
  }
}

PreprocessReport prepare(Model& model, const Config& config, const Placement& placement,
                         Purpose purpose) {
  const bool was_narrow = widen_bfloat16(model);
  PreprocessReport report = placement.follows_onnxruntime && !config.preprocess.enabled
                                ? infer_only(model)
                                : preprocess(model, config.preprocess, purpose);
  if (was_narrow)
    report.notes.emplace_back("bfloat16: what is not quantized is computed in float32");
  return report;
}

}  // namespace

PreprocessReport prepare_for_quantization(Model& model, const Config& config) {
  const Placement& placement = placement_for(config.preset);
  PreprocessReport report = prepare(model, config, placement, Purpose::Quantizing);
  // One scale for what a layer gives is too coarse in front of a normalization of each channel.
  if (!placement.follows_onnxruntime && !config.preprocess.enabled &&
      fold_batch_normalization(model))
    report.notes.emplace_back("BatchNormalization is folded into the layer before");
  raise_as_needed(model, config, placement, report.notes);
  if (fuse_quantized_gelus(model, config, placement)) infer_shapes(model, report.notes);
  return report;
}

PreprocessReport prepare_for_dynamic(Model& model, const Config& config) {
  constexpr std::int64_t kFirstWithDynamicQuantizeLinear = 11;
  PreprocessReport report =
      prepare(model, config, placement_for(config.preset), Purpose::QuantizingAtRunTime);
  if (model.opset() < kFirstWithDynamicQuantizeLinear) {
    upgrade_opset(model, kFirstWithDynamicQuantizeLinear);
    infer_shapes(model, report.notes);
  }
  return report;
}

}  // namespace qtool
