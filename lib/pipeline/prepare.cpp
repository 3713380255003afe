#include "pipeline/prepare.h"

namespace qtool {
namespace {

/// QuantizeLinear exists from opset 10 on, its `axis` from 13; ONNX Runtime fuses nothing at 10.
constexpr std::int64_t kPerTensorOpset = 11;
constexpr std::int64_t kPerChannelOpset = 13;

}  // namespace

PreprocessReport prepare_for_quantization(Model& model, const Config& config) {
  PreprocessReport report = preprocess(model, config.preprocess);
  const std::int64_t needed = config.quantization.per_channel ? kPerChannelOpset : kPerTensorOpset;
  if (model.opset() < needed) {
    upgrade_opset(model, needed);
    infer_shapes(model, report.notes);
  }
  return report;
}

}  // namespace qtool
