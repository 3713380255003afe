#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace qtool {

/// A field of a protobuf message as it lies in memory.
struct WireField {
  enum class Type : std::uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  std::uint32_t number = 0;
  Type type = Type::Varint;
  std::uint64_t value = 0;             ///< of a Varint
  std::span<const std::byte> payload;  ///< of Bytes: strings, messages, packed numbers
  std::span<const std::byte> whole;    ///< with its tag and length
};

/// Reads the fields of one protobuf message in turn, looking at no byte outside of it.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> message) : rest_(message) {}

  /// The next field; nothing at the end, or where what follows is no field: then `is_broken()`.
  std::optional<WireField> next();
  bool is_broken() const { return is_broken_; }
  /// What was not read yet; where broken, it starts with the field that is none.
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
  bool is_broken_ = false;
};

/// Appends a number in protobuf's variable-length form.
void append_varint(std::string& out, std::uint64_t value);
/// Appends the head of a string, a message or packed numbers of `length` bytes.
void append_bytes_head(std::string& out, std::uint32_t number, std::uint64_t length);
/// The bytes that `append_varint` adds.
std::size_t varint_bytes(std::uint64_t value);

}  // namespace qtool
