#include "samples/digests.h"

#include "base/sha256.h"

namespace qtool {

std::optional<Digests::Digest> Digests::find(std::size_t index) const {
  const std::lock_guard lock(mutex_);
  if (!is_known_[index]) return std::nullopt;
  return digests_[index];
}

void Digests::set(std::size_t index, const Digest& digest) {
  const std::lock_guard lock(mutex_);
  digests_[index] = digest;
  is_known_[index] = true;
}

std::string checksum_line(const Digests::Digest& digest, const std::string& name) {
  std::string escaped;
  for (const char c : name) {
    switch (c) {
      case '\\':
        escaped += "\\\\";
        break;
      case '\n':
        escaped += "\\n";
        break;
      case '\r':
        escaped += "\\r";
        break;
      default:
        escaped += c;
    }
  }
  std::string line;
  if (escaped != name) line += '\\';
  return line.append(to_hex(digest)).append("  ").append(escaped).append("\n");
}

}  // namespace qtool
