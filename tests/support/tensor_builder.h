#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "model/tensor.h"

namespace qtool::testing {

/// A tensor of `type` whose elements are stored as `T`.
template <typename T>
Tensor make_tensor_of(ElementType type, std::vector<std::int64_t> shape,
                      const std::vector<T>& values) {
  Tensor tensor{type, std::move(shape), {}};
  tensor.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

inline Tensor float_tensor(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  return make_tensor_of(ElementType::Float, std::move(shape), values);
}

inline Tensor int64_tensor(std::vector<std::int64_t> shape,
                           const std::vector<std::int64_t>& values) {
  return make_tensor_of(ElementType::Int64, std::move(shape), values);
}

}  // namespace qtool::testing
