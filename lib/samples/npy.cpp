#include "samples/npy.h"

#include <algorithm>
#include <cstddef>
#include <exception>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "samples/fit.h"
#include "samples/npy_header.h"

namespace qtool {
namespace {

/// Bytes of the values as stored; an `Input` error where that is more than any memory.
std::uint64_t stored_bytes(const NpyHeader& header, const std::string& where) {
  const auto count = checked_element_count(header.shape);
  const auto bytes =
      count ? checked_mul(*count, static_cast<std::int64_t>(header.element_bytes)) : std::nullopt;
  if (!bytes) {
    throw Error(ErrorKind::Input, where + ": impossible shape " + describe_shape(header.shape) +
                                      " in the .npy header");
  }
  return static_cast<std::uint64_t>(*bytes);
}

/// A valid header may still ask for more than this machine has: that is the sample's fault.
std::vector<std::byte> allocate(std::uint64_t bytes, const std::string& where) {
  try {
    return std::vector<std::byte>(bytes);
  } catch (const std::exception&) {
    throw Error(ErrorKind::Input,
                where + ": values of " + format_bytes(bytes) + " do not fit into memory");
  }
}

/// Reverses the bytes of each element; the two parts of a complex number are elements of their own.
void swap_byte_order(std::span<std::byte> bytes, const NpyHeader& header) {
  const std::size_t width = header.kind == 'c' ? header.element_bytes / 2 : header.element_bytes;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::ranges::reverse(bytes.subspan(at, width));
  }
}

/// Column-major to row-major: walks the output in order and steps through the input by its strides.
std::vector<std::byte> to_row_major(std::span<const std::byte> in, const NpyHeader& header) {
  const std::size_t rank = header.shape.size();
  const std::size_t width = header.element_bytes;
  std::vector<std::size_t> strides(rank), position(rank);
  std::size_t stride = width;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    strides[axis] = stride;
    stride *= static_cast<std::size_t>(header.shape[axis]);
  }
  std::vector<std::byte> out(in.size());
  std::size_t from = 0;
  for (std::size_t to = 0; to < out.size(); to += width) {
    std::copy_n(in.begin() + static_cast<std::ptrdiff_t>(from), width,
                out.begin() + static_cast<std::ptrdiff_t>(to));
    for (std::size_t axis = rank; axis-- > 0;) {
      from += strides[axis];
      if (++position[axis] < static_cast<std::size_t>(header.shape[axis])) break;
      from -= strides[axis] * position[axis];
      position[axis] = 0;
    }
  }
  return out;
}

/// NumPy keeps an element below 8 bits in a byte of its own.
std::vector<std::byte> pack(std::span<const std::byte> in, std::size_t bits) {
  std::vector<std::byte> out((in.size() * bits + 7) / 8);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const unsigned code = std::to_integer<unsigned>(in[i]) & ((1u << bits) - 1);
    const unsigned window = code << (i * bits % 8);
    out[i * bits / 8] |= static_cast<std::byte>(window);
    if (window > 255) out[i * bits / 8 + 1] |= static_cast<std::byte>(window >> 8);
  }
  return out;
}

/// Types that NumPy has no letter for.
bool is_extension_type(ElementType type) {
  return type == ElementType::BFloat16 ||
         (is_known(type) && element_bits(type) > 0 && element_bits(type) < 8) ||
         (element_bits(type) == 8 && type != ElementType::Bool && type != ElementType::Int8 &&
          type != ElementType::UInt8);
}

}  // namespace

ElementType npy_element_type(const NpyHeader& header, ElementType wanted) {
  switch (header.kind) {
    case 'b':
      return ElementType::Bool;
    case 'f':
      return header.element_bytes == 2   ? ElementType::Float16
             : header.element_bytes == 4 ? ElementType::Float
                                         : ElementType::Double;
    case 'i':
      return header.element_bytes == 1   ? ElementType::Int8
             : header.element_bytes == 2 ? ElementType::Int16
             : header.element_bytes == 4 ? ElementType::Int32
                                         : ElementType::Int64;
    case 'u':
      return header.element_bytes == 1   ? ElementType::UInt8
             : header.element_bytes == 2 ? ElementType::UInt16
             : header.element_bytes == 4 ? ElementType::UInt32
                                         : ElementType::UInt64;
    case 'c':
      return header.element_bytes == 8 ? ElementType::Complex64 : ElementType::Complex128;
    default:
      break;
  }
  const std::size_t wanted_bytes = (element_bits(wanted) + 7) / 8;
  return is_extension_type(wanted) && wanted_bytes == header.element_bytes ? wanted
                                                                           : ElementType::Undefined;
}

namespace {
Tensor read_npy_values(ByteStream& stream, const NpyHeader& header, ElementType type) {
  const std::uint64_t bytes = stored_bytes(header, stream.where());
  if (stream.remaining() != bytes) {
    throw Error(ErrorKind::Input, stream.where() + ": holds " + std::to_string(stream.remaining()) +
                                      " bytes of values, expected " + std::to_string(bytes) +
                                      " for shape " + describe_shape(header.shape) + " of dtype '" +
                                      header.dtype + "'");
  }
  Tensor out{type, header.shape, allocate(bytes, stream.where())};
  stream.read(out.bytes);
  if (header.is_big_endian) swap_byte_order(out.bytes, header);
  if (header.is_fortran_order && header.shape.size() > 1)
    out.bytes = to_row_major(out.bytes, header);
  if (element_bits(type) < 8) out.bytes = pack(out.bytes, element_bits(type));
  return out;
}

}  // namespace

Tensor read_npy(ByteStream& stream, const TensorInfo& input) {
  const NpyHeader header = read_npy_header(stream);
  const ElementType type = npy_element_type(header, input.type);
  if (type == ElementType::Undefined) {
    throw Error(ErrorKind::Input, stream.where() + ": input '" + input.name + "': dtype '" +
                                      header.dtype + "' is bytes without a meaning, expected " +
                                      describe(input));
  }
  require_fit(type, header.shape, input, stream.where());
  return read_npy_values(stream, header, type);
}

}  // namespace qtool
