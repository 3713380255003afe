#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qtool::testing {

/// An entry of a zip file; every field can be made wrong.
struct ZipEntry {
  std::string name;
  std::string packed;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  std::uint32_t size = 0;    ///< unpacked
  std::uint32_t crc = 0;
};

inline std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

inline ZipEntry stored(std::string name, std::string content) {
  const auto size = static_cast<std::uint32_t>(content.size());
  const std::uint32_t crc = crc32(content);
  return {std::move(name), std::move(content), 0, size, crc};
}

/// Writes a deflate stream bit by bit, by the format's fixed code.
class DeflateWriter {
 public:
  DeflateWriter() { put(0b011, 3); }  // the last block, fixed code
  void literal(unsigned char byte) {
    byte < 144 ? put_code(0x30u + byte, 8) : put_code(0x190u + byte - 144u, 9);
  }
  /// Repeats the last byte 258 times.
  void repeat258() {
    put_code(0xC5, 8);
    put_code(0, 5);
  }
  std::string finish() {
    put_code(0, 7);
    while (bits_ != 0) put(0, 1);
    return std::move(out_);
  }

 private:
  void put(std::uint32_t value, int count) {
    for (int i = 0; i < count; ++i) {
      if (bits_ == 0) out_ += '\0';
      out_.back() =
          static_cast<char>(static_cast<unsigned char>(out_.back()) | ((value >> i & 1u) << bits_));
      bits_ = (bits_ + 1) % 8;
    }
  }
  void put_code(std::uint32_t code, int count) {
    for (int i = count; i-- > 0;) put(code >> i, 1);
  }

  std::string out_;
  int bits_ = 0;
};

/// Deflated without looking for repetitions.
inline ZipEntry deflated(std::string name, std::string_view content) {
  DeflateWriter writer;
  for (const char c : content) writer.literal(static_cast<unsigned char>(c));
  return {std::move(name), writer.finish(), 8, static_cast<std::uint32_t>(content.size()),
          crc32(content)};
}

inline std::string zip(const std::vector<ZipEntry>& entries) {
  const auto number = [](std::uint32_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
    return out;
  };
  std::string out, directory;
  for (const ZipEntry& entry : entries) {
    const std::string common =
        number(20, 2) + number(0, 2) + number(entry.method, 2) + number(0x00210000, 4) +
        number(entry.crc, 4) + number(static_cast<std::uint32_t>(entry.packed.size()), 4) +
        number(entry.size, 4) + number(static_cast<std::uint32_t>(entry.name.size()), 2) +
        number(0, 2);
    directory += "PK\1\2" + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) +
                 number(0, 4) + number(static_cast<std::uint32_t>(out.size()), 4) + entry.name;
    out += "PK\3\4" + common + entry.name + entry.packed;
  }
  const auto count = number(static_cast<std::uint32_t>(entries.size()), 2);
  const auto start = static_cast<std::uint32_t>(out.size());
  return out + directory + "PK\5\6" + number(0, 4) + count + count +
         number(static_cast<std::uint32_t>(directory.size()), 4) + number(start, 4) + number(0, 2);
}

}  // namespace qtool::testing
