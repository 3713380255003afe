#include "quantize/needed_opset.h"

#include <algorithm>

#include "model/graph_view.h"
#include "quantize/params.h"
#include "quantize/plan_builder.h"
#include "quantize/tensor_overrides.h"

namespace qtool {
namespace {

constexpr std::int64_t kFirstWithQuantizers = 10;
constexpr std::int64_t kFirstWithFusions = 11;
constexpr std::int64_t kFirstWithAxis = 13;
constexpr std::int64_t kFirstWithFloat8AndFloat16 = 19;
constexpr std::int64_t kFirstWithSmallTypesAndBlocks = 21;

bool has_bits(const QuantizationConfig& config, std::size_t bits) {
  return std::ranges::any_of(wanted_types(config), [bits](QuantType type) {
    return element_bits(element_type(type)) == bits;
  });
}

bool has_float8(const QuantizationConfig& config) {
  return std::ranges::any_of(wanted_types(config),
                             [](QuantType type) { return is_float8(element_type(type)); });
}

/// The first opset whose Q and DQ take such a tensor.
std::int64_t first_opset(const TensorPlan& tensor) {
  const QuantParams& params = tensor.params;
  if (params.block_size > 0 || element_bits(params.type) == 16 || element_bits(params.type) == 4)
    return kFirstWithSmallTypesAndBlocks;
  if (is_float8(params.type) || tensor.value_type == ElementType::Float16)
    return kFirstWithFloat8AndFloat16;
  return params.axis ? kFirstWithAxis : kFirstWithQuantizers;
}

/// From opset 12 on it takes integers, and quantizers before and behind it are moved: those have to
/// be held with scales along an axis.
bool has_max_pool(const Model& model) {
  bool found = false;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    found |= std::ranges::any_of(
        graph.node(), [](const onnx::NodeProto& node) { return node.op_type() == "MaxPool"; });
  });
  return found;
}

}  // namespace

std::int64_t needed_opset(const Model& model, const QuantizationConfig& config,
                          const Placement& placement) {
  const bool has_small_types =
      has_bits(config, 16) || (has_bits(config, 4) && !placement.follows_onnxruntime);
  // That one has Q and DQ; onnxruntime.quantization leaves it as it is.
  const bool stays = placement.follows_onnxruntime && model.opset() == kFirstWithQuantizers;
  std::int64_t needed = stays ? kFirstWithQuantizers : kFirstWithFusions;
  if (placement.holds_quantizers && config.quant_format == QuantFormat::Qdq && has_max_pool(model))
    needed = kFirstWithAxis;
  if (config.extra_options.block_size > 0 || has_small_types)
    needed = kFirstWithSmallTypesAndBlocks;
  if (has_float8(config)) needed = std::max(needed, kFirstWithFloat8AndFloat16);
  // ONNX Runtime's own Q and DQ have had axes and float16 scales from the start.
  if (!qdq_domain({}, config, model.opset()).empty()) return needed;
  if (needed >= kFirstWithSmallTypesAndBlocks) return needed;
  const QuantPlan draft = draft_plan(model, config, placement);
  for (const TensorPlan* tensor : all_tensors(draft)) {
    // Integer operators take scales of channels as they are.
    const bool has_quantizer = config.quant_format == QuantFormat::Qdq || !tensor->params.axis;
    if (has_quantizer) needed = std::max(needed, first_opset(*tensor));
  }
  return needed;
}

bool can_stay_below(const QuantizationConfig& config) { return !has_float8(config); }

std::string qdq_domain(const QuantPlan& plan, const QuantizationConfig& config,
                       std::int64_t opset) {
  const bool is_too_early = opset < kFirstWithSmallTypesAndBlocks;
  const bool wants_own = config.extra_options.use_qdq_contrib_ops ||
                         (is_too_early && (has_bits(config, 16) || has_bits(config, 4)));
  const bool needs_own = std::ranges::any_of(
      plan.tensors, [&](const TensorPlan& tensor) { return first_opset(tensor) > opset; });
  return wants_own || needs_own ? "com.microsoft" : "";
}

}  // namespace qtool
