#include "model/wire.h"

#include <bit>

namespace qtool {
namespace {

constexpr std::uint32_t kMaxFieldNumber = (1u << 29) - 1;

/// Takes a varint off the front of `rest`; nothing where it is cut or longer than 64 bits.
std::optional<std::uint64_t> take_varint(std::span<const std::byte>& rest) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < rest.size() && i < 10; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(rest[i]);
    // The tenth byte holds the 64th bit alone.
    if (i == 9 && byte > 1) return std::nullopt;
    value |= (byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      rest = rest.subspan(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::span<const std::byte>> take_bytes(std::span<const std::byte>& rest,
                                                     std::uint64_t count) {
  if (count > rest.size()) return std::nullopt;
  const auto taken = rest.first(static_cast<std::size_t>(count));
  rest = rest.subspan(taken.size());
  return taken;
}

/// Takes a field off the front of `rest`. Groups, which ONNX never had, count as broken.
std::optional<WireField> take_field(std::span<const std::byte>& rest) {
  const auto start = rest;
  const auto tag = take_varint(rest);
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > kMaxFieldNumber) return std::nullopt;
  WireField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3);
  field.type = static_cast<WireField::Type>(*tag & 7);
  switch (field.type) {
    case WireField::Type::Varint: {
      const auto value = take_varint(rest);
      if (!value) return std::nullopt;
      field.value = *value;
      break;
    }
    case WireField::Type::Bytes: {
      const auto length = take_varint(rest);
      const auto payload = length ? take_bytes(rest, *length) : std::nullopt;
      if (!payload) return std::nullopt;
      field.payload = *payload;
      break;
    }
    case WireField::Type::Fixed64:
    case WireField::Type::Fixed32:
      if (!take_bytes(rest, field.type == WireField::Type::Fixed64 ? 8 : 4)) return std::nullopt;
      break;
    default:
      return std::nullopt;
  }
  field.whole = start.first(start.size() - rest.size());
  return field;
}

}  // namespace

std::optional<WireField> WireReader::next() {
  if (rest_.empty() || is_broken_) return std::nullopt;
  auto rest = rest_;
  const auto field = take_field(rest);
  is_broken_ = !field;
  if (field) rest_ = rest;
  return field;
}

void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

void append_bytes_head(std::string& out, std::uint32_t number, std::uint64_t length) {
  append_varint(out,
                std::uint64_t{number} << 3 | static_cast<std::uint64_t>(WireField::Type::Bytes));
  append_varint(out, length);
}

std::size_t varint_bytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

}  // namespace qtool
