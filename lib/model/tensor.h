#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/element_type.h"

namespace qtool {

/// A dense tensor in memory: row-major, little-endian, 4-bit types packed two to a byte, low nibble
/// first.
struct Tensor {
  ElementType type = ElementType::Undefined;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  ///< empty for strings

  std::size_t element_count() const;
  /// The elements where `type` is the matching one; an assertion otherwise.
  std::span<const float> floats() const;
  std::span<const std::int64_t> int64s() const;
};

/// A tensor and the model input or output that it belongs to.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// What a model says of one of its inputs or outputs.
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::Undefined;  ///< Undefined: not a tensor
  /// One per axis: the size, or -1 where it is free. Empty and `has_shape` false: unknown rank.
  std::vector<std::int64_t> shape;
  std::vector<std::string> symbols;  ///< one per axis: the symbolic name, or empty
  bool has_shape = false;
};

/// `float32[N,3,224,224]`
std::string describe(const TensorInfo& info);
/// `2x3x4`, or `scalar`
std::string describe_shape(std::span<const std::int64_t> shape);

/// Every element as float32, from any numeric type (float16 and bfloat16 exactly, 64-bit types
/// rounded).
std::vector<float> to_float32(const Tensor& tensor);
/// Every element as float64; for comparing outputs.
std::vector<double> to_float64(const Tensor& tensor);

}  // namespace qtool
