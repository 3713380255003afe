#include "preprocess/value_type.h"

#include <vector>

#include "base/checked.h"
#include "model/element_type.h"

namespace qtool {

bool is_typed(const onnx::TypeProto& type) {
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET) return false;
  return !type.has_tensor_type() || type.tensor_type().elem_type() != onnx::TensorProto::UNDEFINED;
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
