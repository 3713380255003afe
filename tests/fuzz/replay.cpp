// Runs a fuzz driver without libFuzzer: over every file of a corpus, and over changes of each that
// are the same every time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kChangesPerFile = 300;

void feed(const std::string& bytes) {
  // A buffer of exactly the size: a read beyond it is found by the address sanitizer.
  const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(data.data(), data.size());
}

/// One change of the kinds that fuzzers make: a byte, a piece cut out, a piece doubled, the end cut
/// off.
std::string changed(std::string bytes, std::mt19937_64& random) {
  const auto below = [&](std::size_t bound) {
    return bound == 0 ? 0 : static_cast<std::size_t>(random() % bound);
  };
  const std::size_t at = below(bytes.size());
  const std::size_t length = below(std::min<std::size_t>(bytes.size() - at, 64));
  switch (random() % 4) {
    case 0:
      if (!bytes.empty()) bytes[at] = static_cast<char>(random());
      return bytes;
    case 1:
      return bytes.erase(at, length);
    case 2:
      return bytes.insert(at, bytes.substr(at, length));
    default:
      return bytes.substr(0, at);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    files.push_back(entry.path());
  std::ranges::sort(files);
  std::mt19937_64 random(20240229);
  for (const auto& file : files) {
    const std::string bytes = qtool::read_file(file);
    feed(bytes);
    for (int i = 0; i < kChangesPerFile; ++i) {
      std::string other = bytes;
      for (std::uint64_t changes = 1 + random() % 3; changes > 0; --changes)
        other = changed(std::move(other), random);
      feed(other);
    }
  }
  std::printf("%zu files, %zu runs\n", files.size(), files.size() * (kChangesPerFile + 1));
  return files.empty() ? 1 : 0;
}
