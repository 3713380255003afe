#include "quantize/dynamic/plan.h"

#include <fmt/format.h>

#include "model/graph_view.h"

namespace qtool {
namespace {

std::string axis_text(const QuantParams& params) {
  return params.axis ? fmt::format(" axis={}", *params.axis) : "";
}

std::string weight_text(const StoredWeight& weight) {
  std::string out = fmt::format("{} {}{}", weight.stem, element_type_name(weight.params.type),
                                axis_text(weight.params));
  if (weight.stem != weight.source) out += " of " + weight.source;
  if (weight.replaces_value) out += " also for readers in float";
  return out + "\n";
}

}  // namespace

std::string form_name(DynamicNode::Form form) {
  using Form = DynamicNode::Form;
  switch (form) {
    case Form::Product:
      return "MatMulInteger, scaled";
    case Form::Convolution:
      return "ConvInteger, scaled";
    case Form::Lstm:
      return "DynamicQuantizeLSTM";
    case Form::StoredWeights:
      return "itself, with 8-bit weights";
    case Form::Attention:
      return "QAttention";
    case Form::Embedding:
      return "QEmbedLayerNormalization";
    case Form::Gather:
      return "itself, of 8-bit values";
    case Form::Mover:
      return "itself, on integers";
  }
  return "";
}

std::string to_text(const DynamicPlan& plan) {
  std::string out;
  for (const StoredWeight& weight : plan.weights) out += weight_text(weight);
  for (const Skipped& left : plan.left)
    out += fmt::format("{} ({}) float: {}\n", left.node_name, left.op_type, left.reason);
  return out;
}

}  // namespace qtool
