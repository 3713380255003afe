#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace qtool {

/// Element types of tensors, numbered as in ONNX's TensorProto.DataType.
enum class ElementType : std::int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
  Float4E2M1 = 23,
  Float8E8M0 = 24,
  UInt2 = 25,
  Int2 = 26,
  Float6E2M3 = 27,
  Float6E3M2 = 28,
};

/// Whether `type` is one of the enumerators above other than Undefined: a number in a file may be
/// anything.
bool is_known(ElementType type);

/// Bits of one element; 0 for strings, undefined and unknown types.
std::size_t element_bits(ElementType type);

/// Bytes that `count` elements take when packed without gaps: 4-bit types two to a byte.
std::size_t packed_bytes(ElementType type, std::size_t count);

/// The usual name: `float32`, `int8`, `uint4`, `float8e4m3fn` …; `unknown` for a number that is
/// none.
std::string element_type_name(ElementType type);

}  // namespace qtool
