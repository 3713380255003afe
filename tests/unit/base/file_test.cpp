#include "base/file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "catch.h"
#include "error_text.h"
#include "temp_dir.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::TempDir;

TEST_CASE("a file is read front to back, in pieces, to its end", "[base]") {
  const TempDir folder;
  InputFile file(folder.write("f", "0123456789"));
  CHECK(file.size() == 10);
  std::array<char, 7> piece{};
  const auto bytes = std::as_writable_bytes(std::span(piece));
  CHECK(file.read(bytes) == 7);
  CHECK(std::string_view(piece.data(), 7) == "0123456");
  CHECK(file.read(bytes) == 3);
  CHECK(std::string_view(piece.data(), 3) == "789");
  CHECK(file.read(bytes) == 0);
}

namespace {

/// Bytes of the process that are in memory.
std::size_t resident_bytes() {
  std::size_t all_pages = 0, pages = 0;
  std::ifstream("/proc/self/statm") >> all_pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("a large file read part by part does not stay in memory whole", "[base]") {
  constexpr std::size_t kPart = std::size_t{1} << 24, kParts = 40;
  const TempDir folder;
  const auto path = folder.write("f", "x");
  std::filesystem::resize_file(path, kPart * kParts);
  const MappedFile file(path);
  const std::size_t before = resident_bytes();
  std::size_t most = 0, sum = 0;
  for (std::size_t i = 0; i < kParts; ++i) {
    for (const std::byte each : file.part(i * kPart, kPart)) sum += static_cast<std::size_t>(each);
    most = std::max(most, resident_bytes() - before);
  }
  CHECK(sum == 'x');
  CHECK(most > kPart);
  CHECK(most < kPart * kParts / 2);
}

TEST_CASE("a file that shrinks while it is read only ends early", "[base]") {
  const TempDir folder;
  const auto path = folder.write("f", std::string(100, 'x'));
  InputFile file(path);
  std::filesystem::resize_file(path, 10);
  std::array<std::byte, 100> out{};
  CHECK(file.read(out) == 10);
}

TEST_CASE("a released descriptor belongs to the caller", "[base]") {
  const TempDir folder;
  int descriptor = -1;
  {
    InputFile file(folder.write("f", "abc"));
    InputFile moved = std::move(file);
    descriptor = moved.release();
  }
  char first = 0;
  CHECK(::read(descriptor, &first, 1) == 1);
  CHECK(first == 'a');
  CHECK(::close(descriptor) == 0);
}

TEST_CASE("only regular files are read, and no pipe is waited for", "[base]") {
  const TempDir folder;
  const std::string pipe = (folder / "pipe").string();
  ::mkfifo(pipe.c_str(), 0600);
  CHECK(error_text([&] { InputFile file(pipe); }) ==
        pipe + ": cannot be read: not a regular file, expected a file");
  CHECK(error_text([&] { MappedFile file(pipe); }) ==
        pipe + ": cannot be read: not a regular file, expected a file");
  const std::string dir = folder.path().string();
  CHECK(error_text([&] { InputFile file(dir); }) ==
        dir + ": cannot be read: is a folder, expected a file");
  CHECK(error_text([&] { read_file(dir); }) ==
        dir + ": cannot be read: is a folder, expected a file");
  CHECK(error_text([&] { InputFile file(dir + "/no"); }) ==
        dir + "/no: cannot be read: No such file or directory");
}

TEST_CASE("a file is read whole up to a limit", "[base]") {
  const TempDir folder;
  const auto path = folder.write("f", "0123456789");
  CHECK(read_file(path) == "0123456789");
  CHECK(read_file(path, 10) == "0123456789");
  CHECK(error_text([&] { read_file(path, 9); }) ==
        path.string() + ": is too large, 10 bytes, expected at most 9");
  CHECK(read_file(folder.write("empty", "")).empty());
}
