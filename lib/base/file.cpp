#include "base/file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"

namespace qtool {
namespace {

/// Opens a regular file for reading; gives its descriptor and size. O_NONBLOCK: a named pipe must
/// not hang the run.
std::pair<int, std::size_t> open_regular(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw io_error(path.string(), "cannot be read", errno);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    const bool is_folder = S_ISDIR(status.st_mode);
    ::close(descriptor);
    throw Error(ErrorKind::Io, path.string() + ": cannot be read: " +
                                   (is_folder ? "is a folder" : "not a regular file") +
                                   ", expected a file");
  }
  return {descriptor, static_cast<std::size_t>(status.st_size)};
}

/// Names of temporary files in use, for the signal handler. A slot is claimed by its flag, then
/// filled, then published.
struct TemporarySlot {
  std::atomic<int> state{0};  // 0 free, 1 being changed, 2 holds a name
  std::array<char, 4096> name{};
};
std::array<TemporarySlot, 16> temporary_slots;

void remember_temporary(const std::string& name) {
  for (TemporarySlot& slot : temporary_slots) {
    int expected = 0;
    if (name.size() + 1 > slot.name.size() || !slot.state.compare_exchange_strong(expected, 1))
      continue;
    std::memcpy(slot.name.data(), name.c_str(), name.size() + 1);
    slot.state.store(2);
    return;
  }
}

void forget_temporary(const std::string& name) noexcept {
  for (TemporarySlot& slot : temporary_slots) {
    if (slot.state.load() == 2 && name == slot.name.data()) slot.state.store(0);
  }
}

constexpr std::size_t kBufferBytes = std::size_t{1} << 18;

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const auto [descriptor, size] = open_regular(path);
  size_ = size;
  if (size_ > 0) {
    void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
    const int error_number = errno;
    if (data == MAP_FAILED) {
      ::close(descriptor);
      throw io_error(path.string(), "cannot be mapped", error_number);
    }
    data_ = static_cast<const std::byte*>(data);
  }
  ::close(descriptor);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

std::span<const std::byte> MappedFile::part(std::size_t offset, std::size_t length) const {
  constexpr std::size_t kResidentBytes = std::size_t{64} << 20;
  if (viewed_bytes_.fetch_add(length, std::memory_order_relaxed) + length > kResidentBytes)
    release_pages();
  return bytes().subspan(offset, length);
}

void MappedFile::release_pages() const {
  viewed_bytes_.store(0, std::memory_order_relaxed);
  if (data_ != nullptr) ::madvise(const_cast<std::byte*>(data_), size_, MADV_DONTNEED);
}

InputFile::InputFile(const std::filesystem::path& path) : path_(path.string()) {
  const auto [descriptor, size] = open_regular(path);
  descriptor_ = descriptor;
  size_ = size;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(std::exchange(other.size_, 0)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(size_, other.size_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::size_t InputFile::read(std::span<std::byte> out) {
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::read(descriptor_, out.data() + done, out.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw io_error(path_, "cannot be read", errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

int InputFile::release() { return std::exchange(descriptor_, -1); }

std::string read_file(const std::filesystem::path& path, std::uint64_t limit) {
  InputFile file(path);
  if (file.size() > limit) {
    throw Error(ErrorKind::Io, path.string() + ": is too large, " + std::to_string(file.size()) +
                                   " bytes, expected at most " + std::to_string(limit));
  }
  std::string out(file.size(), '\0');
  out.resize(file.read(std::as_writable_bytes(std::span(out))));
  return out;
}

AtomicFile::AtomicFile(const std::filesystem::path& target) : target_(target) {
  struct stat status {};
  if (::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::Io,
                target.string() + ": cannot be written: " +
                    (S_ISDIR(status.st_mode) ? "is a folder" : "not a regular file") +
                    ", expected a file name");
  }
  // A symbolic link stays one: the file that it names is replaced.
  std::error_code ignored;
  if (std::filesystem::is_symlink(target_, ignored)) {
    const auto resolved = std::filesystem::weakly_canonical(target_, ignored);
    if (!ignored) target_ = resolved;
  }
  std::string pattern = target_.string() + ".tmp-XXXXXX";
  // A long file name leaves no room for a suffix.
  if (target_.filename().string().size() > 240)
    pattern = (target_.parent_path() / ".qtool.tmp-XXXXXX").string();
  descriptor_ = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw io_error(target_.string(), "cannot be written", errno);
  temporary_ = pattern;
  remember_temporary(pattern);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor_, 0666 & ~mask);
  buffer_.reserve(kBufferBytes);
}

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::abandon() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    forget_temporary(temporary_.string());
    temporary_.clear();
  }
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void AtomicFile::write(std::string_view text) {
  if (buffer_.size() + text.size() > kBufferBytes) flush();
  if (text.size() <= kBufferBytes) {
    buffer_ += text;
    return;
  }
  while (!text.empty()) {
    // One call takes at most 2 GB on Linux.
    const ssize_t put =
        ::write(descriptor_, text.data(), std::min<std::size_t>(text.size(), std::size_t{1} << 30));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw io_error(target_.string(), "cannot be written", errno);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
}

void AtomicFile::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t put = ::write(descriptor_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw io_error(target_.string(), "cannot be written", errno);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  // Without this a power failure after the rename could leave an empty file under the target's
  // name.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != ENOSYS) {
    throw io_error(target_.string(), "cannot be written", errno);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0)
    throw io_error(target_.string(), "cannot be written", errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    throw io_error(target_.string(), "cannot be written", errno);
  forget_temporary(temporary_.string());
  temporary_.clear();
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void remove_temporary_files_on_signal() noexcept {
  for (TemporarySlot& slot : temporary_slots) {
    if (slot.state.load() == 2) ::unlink(slot.name.data());
  }
}

}  // namespace qtool
