#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace qtool {

/// A regular file mapped read-only for the life of the object. Anything else (pipe, device, folder)
/// is an `Io` error.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  /// A part of it. Whoever walks through a large file part by part does not keep it all resident:
  /// every few hundred megabytes its pages are released.
  std::span<const std::byte> part(std::size_t offset, std::size_t length) const;
  const std::filesystem::path& path() const { return path_; }

  /// Tells the system that these pages will not be needed soon, so that they do not count as
  /// resident.
  void release_pages() const;

 private:
  std::filesystem::path path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  mutable std::atomic<std::size_t> viewed_bytes_ = 0;
};

/// A regular file read from front to back: what is taken from it needs no mapping, and a file that
/// shrinks meanwhile only ends early. Anything else (pipe, device, folder) is an `Io` error.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  ~InputFile();

  /// The size when it was opened.
  std::uint64_t size() const { return size_; }
  /// Fills `out` as far as the file goes; the number of bytes read.
  std::size_t read(std::span<std::byte> out);
  /// Gives the descriptor away; the caller closes it.
  int release();

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The whole of a regular file; an `Io` error, also where it is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t limit = std::uint64_t{1} << 30);

/// A file that appears under its name only when complete. It is written beside the target and
/// renamed by `commit`; without that, also when an exception passes, the target stays as it was and
/// nothing is left behind.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Where the content is until `commit`, for a reader that must see it before it counts.
  const std::filesystem::path& temporary_path() const { return temporary_; }
  const std::filesystem::path& target() const { return target_; }
  /// Hands all that was written to the system, so that `temporary_path` can be read; more may
  /// follow.
  void flush();
  void commit();

 private:
  void abandon() noexcept;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::string buffer_;
  int descriptor_ = -1;
};

/// Writes `text` to `path` by an AtomicFile.
void write_file(const std::filesystem::path& path, std::string_view text);

/// Removes every temporary file of this process that was not committed. For a signal handler: calls
/// only unlink.
void remove_temporary_files_on_signal() noexcept;

}  // namespace qtool
