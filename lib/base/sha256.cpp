#include "base/sha256.h"

#include <algorithm>

#include <openssl/evp.h>

#include "base/error.h"
#include "base/file.h"

namespace qtool {

struct Sha256::Context {
  EVP_MD_CTX* handle = EVP_MD_CTX_new();
  Context() = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(handle); }
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  if (context_->handle == nullptr ||
      EVP_DigestInit_ex(context_->handle, EVP_sha256(), nullptr) != 1) {
    throw Error(ErrorKind::Internal, "SHA-256 is not available in this OpenSSL");
  }
}

Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(context_->handle, bytes.data(), bytes.size());
}

void Sha256::update(std::string_view text) {
  EVP_DigestUpdate(context_->handle, text.data(), text.size());
}

std::array<std::byte, 32> Sha256::digest() {
  std::array<std::byte, 32> out{};
  EVP_DigestFinal_ex(context_->handle, reinterpret_cast<unsigned char*>(out.data()), nullptr);
  return out;
}

std::string Sha256::hex_digest() { return to_hex(digest()); }

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    out += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    out += kDigits[std::to_integer<std::size_t>(byte & std::byte{15})];
  }
  return out;
}

std::string sha256_of_file(const std::filesystem::path& path) {
  const MappedFile file(path);
  Sha256 hash;
  // In pieces, so that little of a large file is resident at a time.
  constexpr std::size_t kPiece = std::size_t{4} << 20;
  for (auto rest = file.bytes(); !rest.empty();) {
    const auto piece = rest.first(std::min(kPiece, rest.size()));
    hash.update(piece);
    rest = rest.subspan(piece.size());
    file.release_pages();
  }
  return hash.hex_digest();
}

}  // namespace qtool
