#include "samples/byte_stream.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace qtool {
namespace {

/// Digested right after it was read, a piece of this size is still in the cache.
constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

}  // namespace

void ByteStream::read(std::span<std::byte> out) {
  const std::size_t wanted = out.size();
  while (!out.empty()) {
    if (begin_ == end_ && out.size() < buffer_.size()) {
      begin_ = 0;
      end_ = fetch(buffer_);
    }
    std::size_t got = std::min(out.size(), end_ - begin_);
    if (got > 0) {
      std::memcpy(out.data(), buffer_.data() + begin_, got);
      begin_ += got;
    } else if (out.size() >= buffer_.size()) {
      got = fetch(out.first(std::min(out.size(), kPieceBytes)));
    }
    if (got == 0) throw Error(ErrorKind::Input, where_ + ": ends early");
    out = out.subspan(got);
  }
  remaining_ -= std::min<std::uint64_t>(remaining_, wanted);
}

std::size_t FileStream::fetch(std::span<std::byte> out) {
  const std::size_t got = file_.read(out);
  if (hash_ != nullptr) hash_->update(out.first(got));
  return got;
}

void digest_file(const std::string& path, Sha256& hash) {
  InputFile file(path);
  std::array<std::byte, 65536> piece;
  while (const std::size_t got = file.read(piece)) hash.update(std::span(piece).first(got));
}

}  // namespace qtool
