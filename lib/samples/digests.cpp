#include "samples/digests.h"

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

}  // namespace qtool
