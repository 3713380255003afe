#include "preprocess/loop_types.h"

#include <algorithm>

namespace qtool {
namespace {

/// Sizes that change show one after the other where values move from one to the next.
constexpr int kMaxTrials = 10;

bool has_shape(const onnx::TypeProto& type) {
  return type.has_tensor_type() && type.tensor_type().has_shape();
}

bool is_same(const onnx::TensorShapeProto::Dimension& a,
             const onnx::TensorShapeProto::Dimension& b) {
  return a.has_dim_value() ? b.has_dim_value() && a.dim_value() == b.dim_value()
                           : a.dim_param() == b.dim_param();
}

/// Takes from a shape what `made` does not share; whether there was something.
bool keep_common(onnx::TypeProto& type, const onnx::TypeProto& made) {
  if (!has_shape(type)) return false;
  auto& shape = *type.mutable_tensor_type()->mutable_shape();
  if (!has_shape(made) || made.tensor_type().shape().dim_size() != shape.dim_size()) {
    type.mutable_tensor_type()->clear_shape();
    return true;
  }
  bool changed = false;
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    auto& dim = *shape.mutable_dim(axis);
    const bool is_known = dim.has_dim_value() || !dim.dim_param().empty();
    if (!is_known || is_same(dim, made.tensor_type().shape().dim(axis))) continue;
    dim.Clear();
    changed = true;
  }
  return changed;
}

}  // namespace

std::vector<onnx::TypeProto> types_of_every_round(std::vector<onnx::TypeProto> initial,
                                                  const LoopRound& round) {
  std::vector<onnx::TypeProto> types = std::move(initial);
  for (int trial = 0; trial < kMaxTrials && std::ranges::any_of(types, has_shape); ++trial) {
    std::vector<onnx::TypeProto> made = round(types);
    made.resize(types.size());
    bool changed = false;
    for (std::size_t i = 0; i < types.size(); ++i) changed |= keep_common(types[i], made[i]);
    if (!changed) return types;
  }
  for (auto& type : types) {
    if (type.has_tensor_type()) type.mutable_tensor_type()->clear_shape();
  }
  return types;
}

}  // namespace qtool
