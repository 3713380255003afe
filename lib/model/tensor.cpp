#include "model/tensor.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/float16.h"

namespace qtool {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are little-endian in memory as in files");

/// The layout of a floating-point type of at most 8 bits.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  /// Ieee: the highest exponent means infinity and NaN. FiniteOnly: all bits set is NaN (`fn`).
  /// UnsignedZero: the pattern of negative zero is NaN (`fnuz`). AllFinite: no infinity, no NaN.
  enum class Special { Ieee, FiniteOnly, UnsignedZero, AllFinite } special;
};

constexpr FloatFormat kE4M3FN{4, 3, 7, FloatFormat::Special::FiniteOnly};
constexpr FloatFormat kE4M3FNUZ{4, 3, 8, FloatFormat::Special::UnsignedZero};
constexpr FloatFormat kE5M2{5, 2, 15, FloatFormat::Special::Ieee};
constexpr FloatFormat kE5M2FNUZ{5, 2, 16, FloatFormat::Special::UnsignedZero};
constexpr FloatFormat kE2M1{2, 1, 1, FloatFormat::Special::AllFinite};
constexpr FloatFormat kE2M3{2, 3, 1, FloatFormat::Special::AllFinite};
constexpr FloatFormat kE3M2{3, 2, 3, FloatFormat::Special::AllFinite};

float decode_float(unsigned code, const FloatFormat& format) {
  const unsigned mantissa_mask = (1u << format.mantissa_bits) - 1;
  const unsigned exponent_mask = (1u << format.exponent_bits) - 1;
  const unsigned mantissa = code & mantissa_mask;
  const unsigned exponent = (code >> format.mantissa_bits) & exponent_mask;
  const bool negative = ((code >> (format.mantissa_bits + format.exponent_bits)) & 1) != 0;
  const auto with_sign = [negative](float value) { return negative ? -value : value; };
  using Special = FloatFormat::Special;
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const bool at_top = exponent == exponent_mask;
  if (format.special == Special::Ieee && at_top) {
    return with_sign(mantissa != 0 ? kNaN : std::numeric_limits<float>::infinity());
  }
  if (format.special == Special::FiniteOnly && at_top && mantissa == mantissa_mask)
    return with_sign(kNaN);
  if (format.special == Special::UnsignedZero && negative && exponent == 0 && mantissa == 0)
    return kNaN;
  // The smallest of these formats' steps is 2^-17, so every value is a normal float32.
  const unsigned significand = exponent == 0 ? mantissa : mantissa | (mantissa_mask + 1);
  const int power =
      static_cast<int>(exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits;
  return with_sign(std::ldexp(static_cast<float>(significand), power));
}

float bfloat16_to_float(std::uint16_t code) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16);
}

float e8m0_to_float(unsigned code) {
  if (code == 255) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, static_cast<int>(code) - 127);
}

/// Sign-extends the low `bits` of `code`.
int signed_code(unsigned code, unsigned bits) {
  return static_cast<int>(code << (32 - bits)) >> (32 - bits);
}

template <typename Stored, typename Out, typename Convert>
void convert_whole(const Tensor& tensor, std::vector<Out>& out, const Convert& convert) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored value;
    std::memcpy(&value, tensor.bytes.data() + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(value);
  }
}

template <typename Stored, typename Out>
void convert_numbers(const Tensor& tensor, std::vector<Out>& out) {
  convert_whole<Stored>(tensor, out, [](Stored value) { return static_cast<Out>(value); });
}

/// Elements of 2, 4, 6 or 8 bits, packed from the low end of each byte on.
template <typename Out, typename Convert>
void convert_codes(const Tensor& tensor, std::vector<Out>& out, const Convert& convert) {
  const unsigned bits = static_cast<unsigned>(element_bits(tensor.type));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t first_bit = i * bits;
    const std::size_t byte = first_bit / 8;
    unsigned window = std::to_integer<unsigned>(tensor.bytes[byte]);
    if (byte + 1 < tensor.bytes.size())
      window |= std::to_integer<unsigned>(tensor.bytes[byte + 1]) << 8;
    out[i] = static_cast<Out>(convert((window >> (first_bit % 8)) & ((1u << bits) - 1)));
  }
}

template <typename Out>
void convert_codes_of(const Tensor& tensor, std::vector<Out>& out, const FloatFormat& format) {
  convert_codes(tensor, out, [&](unsigned code) { return decode_float(code, format); });
}

template <typename Out>
void convert_sub_byte_integers(const Tensor& tensor, std::vector<Out>& out) {
  const unsigned bits = static_cast<unsigned>(element_bits(tensor.type));
  if (tensor.type == ElementType::Int4 || tensor.type == ElementType::Int2) {
    convert_codes(tensor, out, [bits](unsigned code) { return signed_code(code, bits); });
  } else {
    convert_codes(tensor, out, [](unsigned code) { return code; });
  }
}

void widen(const Tensor& tensor, std::vector<float>& out) {
  // Bytes in memory of the heap are aligned for every number.
  kernels::widen_float16({reinterpret_cast<const std::uint16_t*>(tensor.bytes.data()), out.size()},
                         out);
}
void widen(const Tensor& tensor, std::vector<double>& out) {
  std::vector<float> floats(out.size());
  widen(tensor, floats);
  std::copy(floats.begin(), floats.end(), out.begin());
}

template <typename Out>
std::vector<Out> convert(const Tensor& tensor) {
  std::vector<Out> out(tensor.element_count());
  if (tensor.bytes.size() != packed_bytes(tensor.type, out.size())) {
    throw Error(ErrorKind::Internal, "tensor of " + element_type_name(tensor.type) + " with " +
                                         std::to_string(tensor.bytes.size()) + " bytes, expected " +
                                         std::to_string(packed_bytes(tensor.type, out.size())));
  }
  switch (tensor.type) {
    case ElementType::Float:
      convert_numbers<float>(tensor, out);
      break;
    case ElementType::Double:
      convert_numbers<double>(tensor, out);
      break;
    case ElementType::UInt8:
    case ElementType::Bool:
      convert_numbers<std::uint8_t>(tensor, out);
      break;
    case ElementType::Int8:
      convert_numbers<std::int8_t>(tensor, out);
      break;
    case ElementType::UInt16:
      convert_numbers<std::uint16_t>(tensor, out);
      break;
    case ElementType::Int16:
      convert_numbers<std::int16_t>(tensor, out);
      break;
    case ElementType::UInt32:
      convert_numbers<std::uint32_t>(tensor, out);
      break;
    case ElementType::Int32:
      convert_numbers<std::int32_t>(tensor, out);
      break;
    case ElementType::UInt64:
      convert_numbers<std::uint64_t>(tensor, out);
      break;
    case ElementType::Int64:
      convert_numbers<std::int64_t>(tensor, out);
      break;
    case ElementType::Float16:
      widen(tensor, out);
      break;
    case ElementType::BFloat16:
      convert_whole<std::uint16_t>(tensor, out, bfloat16_to_float);
      break;
    case ElementType::Float8E4M3FN:
      convert_codes_of(tensor, out, kE4M3FN);
      break;
    case ElementType::Float8E4M3FNUZ:
      convert_codes_of(tensor, out, kE4M3FNUZ);
      break;
    case ElementType::Float8E5M2:
      convert_codes_of(tensor, out, kE5M2);
      break;
    case ElementType::Float8E5M2FNUZ:
      convert_codes_of(tensor, out, kE5M2FNUZ);
      break;
    case ElementType::Float8E8M0:
      convert_codes(tensor, out, e8m0_to_float);
      break;
    case ElementType::Float4E2M1:
      convert_codes_of(tensor, out, kE2M1);
      break;
    case ElementType::Float6E2M3:
      convert_codes_of(tensor, out, kE2M3);
      break;
    case ElementType::Float6E3M2:
      convert_codes_of(tensor, out, kE3M2);
      break;
    case ElementType::UInt4:
    case ElementType::Int4:
    case ElementType::UInt2:
    case ElementType::Int2:
      convert_sub_byte_integers(tensor, out);
      break;
    case ElementType::Undefined:
    case ElementType::String:
    case ElementType::Complex64:
    case ElementType::Complex128:
      throw Error(ErrorKind::Internal,
                  "tensor of " + element_type_name(tensor.type) + ", expected real numbers");
  }
  return out;
}

template <typename T>
std::span<const T> elements(const Tensor& tensor) {
  return {reinterpret_cast<const T*>(tensor.bytes.data()), tensor.bytes.size() / sizeof(T)};
}

}  // namespace

std::size_t Tensor::element_count() const {
  const auto count = checked_element_count(shape);
  assert(count);
  return static_cast<std::size_t>(count.value_or(0));
}

std::span<const float> Tensor::floats() const {
  assert(type == ElementType::Float);
  return elements<float>(*this);
}

std::span<const std::int64_t> Tensor::int64s() const {
  assert(type == ElementType::Int64);
  return elements<std::int64_t>(*this);
}

std::string describe_shape(std::span<const std::int64_t> shape) {
  if (shape.empty()) return "scalar";
  std::vector<std::string> dims;
  for (const std::int64_t dim : shape) dims.push_back(std::to_string(dim));
  return join(dims, "x");
}

std::string describe(const TensorInfo& info) {
  std::string out = element_type_name(info.type);
  if (!info.has_shape) return out;
  out += '[';
  for (std::size_t axis = 0; axis < info.shape.size(); ++axis) {
    if (axis > 0) out += ',';
    if (info.shape[axis] >= 0) {
      out += std::to_string(info.shape[axis]);
    } else {
      out += axis < info.symbols.size() && !info.symbols[axis].empty()
                 ? printable(info.symbols[axis])
                 : "?";
    }
  }
  return out + ']';
}

std::vector<float> to_float32(const Tensor& tensor) { return convert<float>(tensor); }

std::vector<double> to_float64(const Tensor& tensor) { return convert<double>(tensor); }

}  // namespace qtool
