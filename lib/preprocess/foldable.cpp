#include "preprocess/foldable.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/checked.h"
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

std::optional<std::uint64_t> known_bytes(const onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  const std::size_t bits = element_bits(static_cast<ElementType>(type.tensor_type().elem_type()));
  if (bits == 0) return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const auto& dim : type.tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  const auto count = checked_element_count(shape);
  if (!count) return std::nullopt;
  const auto total =
      checked_mul(static_cast<std::uint64_t>(*count), static_cast<std::uint64_t>(bits));
  if (!total) return std::nullopt;
  return (*total + 7) / 8;
}

}  // namespace qtool
