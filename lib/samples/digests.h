#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace qtool {

/// The digests of a number of files, filled in by several threads in any order.
class Digests {
 public:
  using Digest = std::array<std::byte, 32>;

  explicit Digests(std::size_t count) : digests_(count), is_known_(count) {}

  std::size_t size() const { return digests_.size(); }
  std::optional<Digest> find(std::size_t index) const;
  void set(std::size_t index, const Digest& digest);

 private:
  mutable std::mutex mutex_;
  std::vector<Digest> digests_;
  std::vector<bool> is_known_;
};

/// The line that `sha256sum` prints for a file, also for names with a backslash or a line break.
std::string checksum_line(const Digests::Digest& digest, const std::string& name);

}  // namespace qtool
