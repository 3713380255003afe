#include "samples/npy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <unistd.h>

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

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Memory for values; an `Input` error where this machine cannot have as much. The system may
/// promise more than there is and end the process when it is used.
std::vector<std::byte> allocate(std::uint64_t bytes, const std::string& where) {
  constexpr std::uint64_t kAlwaysThere = std::uint64_t{1} << 28;
  try {
    if (bytes < kAlwaysThere || bytes < physical_memory()) return std::vector<std::byte>(bytes);
  } catch (const std::bad_alloc&) {
    // A limit for this process is below the machine's memory.
  }
  throw Error(ErrorKind::Input,
              where + ": values of " + format_bytes(bytes) + " do not fit into memory");
}

/// Reverses the bytes of each element; the two parts of a complex number are elements of their own.
void swap_byte_order(std::span<std::byte> bytes, const NpyHeader& header) {
  const bool is_complex =
      header.type == ElementType::Complex64 || header.type == ElementType::Complex128;
  const std::size_t width = is_complex ? header.element_bytes / 2 : header.element_bytes;
  for (std::size_t at = 0; at < bytes.size(); at += width) {
    std::ranges::reverse(bytes.subspan(at, width));
  }
}

/// An axis with more than one position, and the way between two of them in bytes.
struct Axis {
  std::size_t size;
  std::size_t stride;
  std::size_t position = 0;
};

/// Column-major to row-major: walks the output in order and steps through the input by its strides.
std::vector<std::byte> to_row_major(std::span<const std::byte> in, const NpyHeader& header,
                                    const std::string& where) {
  const std::size_t width = header.element_bytes;
  std::vector<Axis> axes;
  std::size_t stride = width;
  for (const std::int64_t dim : header.shape) {
    const auto size = static_cast<std::size_t>(dim);
    // A hostile header may have thousands of these.
    if (size != 1) axes.push_back({size, stride});
    stride *= size;
  }
  std::ranges::reverse(axes);
  std::vector<std::byte> out = allocate(in.size(), where);
  std::size_t from = 0;
  for (std::size_t to = 0; to < out.size(); to += width) {
    std::memcpy(out.data() + to, in.data() + from, width);
    for (Axis& axis : axes) {
      from += axis.stride;
      if (++axis.position < axis.size) break;
      from -= axis.stride * axis.position;
      axis.position = 0;
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

/// Types that NumPy stores as bytes without a meaning.
bool is_extension_type(ElementType type) {
  switch (type) {
    case ElementType::Bool:
    case ElementType::Int8:
    case ElementType::UInt8:
      return false;
    case ElementType::BFloat16:
      return true;
    default:
      return element_bits(type) > 0 && element_bits(type) <= 8;
  }
}

/// The type of the array for an input of type `wanted`, which gives bytes without a meaning theirs.
ElementType type_of(const NpyHeader& header, ElementType wanted) {
  const std::size_t wanted_bytes = (element_bits(wanted) + 7) / 8;
  const bool has_no_type = header.type == ElementType::Undefined;
  return has_no_type && is_extension_type(wanted) && wanted_bytes == header.element_bytes
             ? wanted
             : header.type;
}

Tensor read_values(ByteStream& stream, const NpyHeader& header, ElementType type) {
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
  if (header.is_fortran_order && header.shape.size() > 1) {
    out.bytes = to_row_major(out.bytes, header, stream.where());
  }
  if (element_bits(type) < 8) out.bytes = pack(out.bytes, element_bits(type));
  return out;
}

}  // namespace

Tensor read_npy(ByteStream& stream, const TensorInfo& input) {
  const NpyHeader header = read_npy_header(stream);
  const ElementType type = type_of(header, input.type);
  if (type == ElementType::Undefined) {
    throw Error(ErrorKind::Input, stream.where() + ": input '" + input.name + "': dtype '" +
                                      header.dtype + "' is bytes without a meaning, expected " +
                                      describe(input));
  }
  require_fit(type, header.shape, input, stream.where());
  return read_values(stream, header, type);
}

}  // namespace qtool
