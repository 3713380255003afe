#include "preprocess/foldable.h"

#include <algorithm>
#include <string_view>

#include "model/model.h"

namespace qtool {
namespace {

/// Random, stateful or for training; and quantization, which folding would undo.
constexpr std::string_view kNeverFolded[] = {
    "Bernoulli",
    "Constant",
    "DequantizeLinear",
    "Dropout",
    "DynamicQuantizeLinear",
    "If",
    "Loop",
    "Multinomial",
    "QuantizeLinear",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
    "Scan",
    "SequenceMap",
};

constexpr std::string_view kSizedByValues[] = {
    "BlackmanWindow", "CenterCropPad", "Col2Im",     "ConstantOfShape", "DFT",
    "Expand",         "HammingWindow", "HannWindow", "MaxUnpool",       "MelWeightMatrix",
    "OneHot",         "Pad",           "Range",      "Resize",          "STFT",
    "Tile",           "Upsample",
};

}  // namespace

bool is_pure(const onnx::NodeProto& node) {
  if (!is_default_domain(node.domain()) ||
      std::ranges::find(kNeverFolded, node.op_type()) != std::end(kNeverFolded)) {
    return false;
  }
  return std::ranges::none_of(node.attribute(), [](const onnx::AttributeProto& attribute) {
    return attribute.has_g() || attribute.graphs_size() > 0;
  });
}

bool is_sized_by_values(const onnx::NodeProto& node) {
  return std::ranges::find(kSizedByValues, node.op_type()) != std::end(kSizedByValues);
}

}  // namespace qtool
