#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace qtool {

/// SHA-256 (FIPS 180-4) of what is fed to it, in pieces.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  /// The digest as bytes. Ends the computation.
  std::array<std::byte, 32> digest();
  /// 64 lower-case hexadecimal digits. Ends the computation.
  std::string hex_digest();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Two lower-case hexadecimal digits for each byte.
std::string to_hex(std::span<const std::byte> bytes);

/// The digest of a file's content; an `Io` error where it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace qtool
