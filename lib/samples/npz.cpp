#include "samples/npz.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <zip.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "samples/byte_stream.h"
#include "samples/input_names.h"
#include "samples/npy.h"

namespace qtool {
namespace {

constexpr std::string_view kSuffix = ".npy";
/// What deflate makes of a run of equal bytes; no entry unpacks to more.
constexpr std::uint64_t kDeflateRatio = 1032;
/// Above this size an entry that unpacks to over kPlausibleRatio times its bytes is an attack on
/// memory, not a sample.
constexpr std::uint64_t kLargeEntry = std::uint64_t{256} << 20;
constexpr std::uint64_t kPlausibleRatio = 100;

class EntryStream final : public ByteStream {
 public:
  EntryStream(std::string where, std::uint64_t size, zip_file_t* file)
      : ByteStream(std::move(where), size), file_(file), declared_(size) {}
  ~EntryStream() override { zip_fclose(file_); }

  /// Reads past the last byte: libzip compares the checksum there, but not the size.
  void finish() {
    std::byte extra{};
    fetch({&extra, 1});
    if (fetched_ != declared_) {
      throw Error(ErrorKind::Input, where() + ": is longer than its archive says");
    }
  }

 private:
  std::size_t fetch(std::span<std::byte> out) override {
    const zip_int64_t got = zip_fread(file_, out.data(), out.size());
    if (got < 0) {
      throw Error(ErrorKind::Input, where() + ": cannot be unpacked: " +
                                        to_lower(zip_error_strerror(zip_file_get_error(file_))));
    }
    fetched_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }

  zip_file_t* file_;
  std::uint64_t declared_;
  std::uint64_t fetched_ = 0;
};

zip_t* open_archive(const std::string& path, InputFile file) {
  // The descriptor is libzip's only where it succeeds.
  const int descriptor = file.release();
  int failure = 0;
  zip_t* const archive = zip_fdopen(descriptor, 0, &failure);
  if (archive != nullptr) return archive;
  ::close(descriptor);
  zip_error_t error;
  zip_error_init_with_code(&error, failure);
  const std::string reason = to_lower(zip_error_strerror(&error));
  zip_error_fini(&error);
  throw Error(ErrorKind::Input, path + ": is not a sound .npz archive: " + reason);
}

}  // namespace

struct NpzArchive::Zip {
  zip_t* handle;
  ~Zip() { zip_discard(handle); }
};

NpzArchive::NpzArchive(const std::string& path, Sha256* hash) : path_(path) {
  if (hash != nullptr) digest_file(path, *hash);
  InputFile file(path);
  file_bytes_ = file.size();
  zip_.reset(new Zip{open_archive(path, std::move(file))});
  const zip_int64_t count = zip_get_num_entries(zip_->handle, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const name =
        zip_get_name(zip_->handle, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    std::string key = name == nullptr ? "" : name;
    if (!key.ends_with(kSuffix)) {
      throw Error(ErrorKind::Input, path + ": entry '" + key + "' is not an .npy file");
    }
    key.resize(key.size() - kSuffix.size());
    keys_.push_back(std::move(key));
  }
}

NpzArchive::NpzArchive(NpzArchive&&) noexcept = default;
NpzArchive::~NpzArchive() = default;

Tensor NpzArchive::read(std::size_t index, const TensorInfo& input) const {
  const std::string where = this->where(index);
  zip_stat_t status;
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat_index(zip_->handle, index, 0, &status) != 0 || (status.valid & kNeeded) != kNeeded) {
    throw Error(ErrorKind::Input, where + ": has no size");
  }
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE) {
    throw Error(ErrorKind::Input, where + ": is packed by method " +
                                      std::to_string(status.comp_method) +
                                      ", expected stored or deflated");
  }
  if (status.comp_size > file_bytes_) throw Error(ErrorKind::Input, where + ": is cut short");
  const std::uint64_t ratio = status.comp_size == 0 ? status.size : status.size / status.comp_size;
  if (ratio > kDeflateRatio || (status.size > kLargeEntry && ratio > kPlausibleRatio)) {
    throw Error(ErrorKind::Input, where + ": unpacks to " + format_bytes(status.size) + " from " +
                                      format_bytes(status.comp_size) + ", which no sample does");
  }
  zip_file_t* const file = zip_fopen_index(zip_->handle, index, 0);
  if (file == nullptr) {
    throw Error(ErrorKind::Input, where + ": cannot be unpacked: " +
                                      to_lower(zip_error_strerror(zip_get_error(zip_->handle))));
  }
  EntryStream stream(where, status.size, file);
  Tensor out = read_npy(stream, input);
  stream.finish();
  return out;
}

std::vector<std::size_t> find_entries(std::span<const std::string> keys,
                                      std::span<const TensorInfo> inputs,
                                      const std::string& where) {
  std::vector<std::optional<std::size_t>> found(inputs.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto input = find_input(keys[i], inputs, where);
    if (!input) refuse_unknown_input(keys[i], inputs, where);
    if (found[*input]) {
      throw Error(ErrorKind::Input, where + ": input '" + inputs[*input].name +
                                        "' has two entries, '" + keys[*found[*input]] + "' and '" +
                                        keys[i] + "', expected one");
    }
    found[*input] = i;
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!found[i])
      throw Error(ErrorKind::Input, where + ": no entry for input '" + inputs[i].name + "'");
    out.push_back(*found[i]);
  }
  return out;
}

}  // namespace qtool
