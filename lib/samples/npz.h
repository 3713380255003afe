#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/sha256.h"
#include "model/tensor.h"

namespace qtool {

/// An `.npz` archive: a zip file (stored or deflated) of `.npy` entries.
class NpzArchive {
 public:
  /// Opens the archive and reads its directory; digests the file where `hash` is given. `Io` error
  /// where it cannot be read, `Input` error where it is not a sound archive.
  NpzArchive(const std::string& path, Sha256* hash);
  NpzArchive(NpzArchive&&) noexcept;
  ~NpzArchive();

  /// Names of the entries without `.npy`.
  const std::vector<std::string>& keys() const { return keys_; }
  /// What messages call an entry.
  std::string where(std::size_t index) const { return path_ + ": entry '" + keys_[index] + "'"; }
  /// The value of entry `index` for `input`, as read_npy; memory is taken only for what the archive
  /// can hold.
  Tensor read(std::size_t index, const TensorInfo& input) const;

 private:
  struct Zip;
  std::string path_;
  std::uint64_t file_bytes_ = 0;
  std::unique_ptr<Zip> zip_;
  std::vector<std::string> keys_;
};

/// The entry that each input has among `keys`; `Input` errors, starting with `where`: missing,
/// unknown, twice.
std::vector<std::size_t> find_entries(std::span<const std::string> keys,
                                      std::span<const TensorInfo> inputs, const std::string& where);

}  // namespace qtool
