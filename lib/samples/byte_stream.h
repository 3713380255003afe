#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/file.h"
#include "base/sha256.h"

namespace qtool {

/// Bytes read once, from front to back, of a size known before: a sample's file or an entry of an
/// archive.
class ByteStream {
 public:
  /// `where` names the source in messages.
  ByteStream(std::string where, std::uint64_t size) : where_(std::move(where)), remaining_(size) {}
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  const std::string& where() const { return where_; }
  /// What is left to read.
  std::uint64_t remaining() const { return remaining_; }
  /// Fills `out`; an `Input` error where the source ends before.
  void read(std::span<std::byte> out);

 private:
  /// Fills the front of `out`; the number of bytes got, 0 at the end.
  virtual std::size_t fetch(std::span<std::byte> out) = 0;

  std::string where_;
  std::uint64_t remaining_;
  std::array<std::byte, 16384> buffer_;  ///< a small source is one call to the system
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// A file, digested while it is read where `hash` is given.
class FileStream final : public ByteStream {
 public:
  FileStream(const std::string& path, Sha256* hash) : FileStream(path, InputFile(path), hash) {}

 private:
  FileStream(const std::string& path, InputFile file, Sha256* hash)
      : ByteStream(path, file.size()), file_(std::move(file)), hash_(hash) {}
  std::size_t fetch(std::span<std::byte> out) override;

  InputFile file_;
  Sha256* hash_;
};

/// Feeds a file's content to `hash`.
void digest_file(const std::string& path, Sha256& hash);

}  // namespace qtool
