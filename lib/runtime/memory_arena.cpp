#include "runtime/memory_arena.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <sys/mman.h>

namespace qtool {
namespace {

constexpr std::size_t kRegionUnit = std::size_t{1} << 20;

std::size_t round_up(std::size_t bytes, std::size_t unit) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  return (bytes + unit - 1) / unit * unit;
}

/// Null where the system has no room.
std::byte* map_region(std::size_t bytes) {
  void* const out = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return out == MAP_FAILED ? nullptr : static_cast<std::byte*>(out);
}

}  // namespace

MemoryArena::~MemoryArena() {
  for (const auto& [begin, bytes] : regions_) ::munmap(begin, bytes);
}

void* MemoryArena::allocate(std::size_t bytes) {
  const std::size_t with_header = round_up(bytes, kAlignment) + sizeof(Header);
  const std::lock_guard lock(mutex_);
  std::byte* const begin = take(with_header);
  new (begin) Header{this, with_header};
  return begin + sizeof(Header);
}

void MemoryArena::release(void* memory) {
  if (memory == nullptr) return;
  std::byte* const begin = static_cast<std::byte*>(memory) - sizeof(Header);
  const Header header = *std::launder(reinterpret_cast<Header*>(begin));
  const std::lock_guard lock(header.arena->mutex_);
  header.arena->put_back(begin, header.bytes);
}

void MemoryArena::trim() {
  const std::lock_guard lock(mutex_);
  for (auto region = regions_.begin(); region != regions_.end();) {
    const auto block = free_.find(region->first);
    const bool is_empty = block != free_.end() && block->second == region->second;
    if (!is_empty) {
      ++region;
      continue;
    }
    remove_free(block);
    ::munmap(region->first, region->second);
    region = regions_.erase(region);
  }
}

std::size_t MemoryArena::reserved_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t out = 0;
  for (const auto& [begin, bytes] : regions_) out += bytes;
  return out;
}

/// Where address space is limited, just what is needed.
void MemoryArena::add_region(std::size_t least_bytes) {
  std::size_t bytes = std::max(kRegionBytes, round_up(least_bytes, kRegionUnit));
  std::byte* begin = map_region(bytes);
  if (begin == nullptr) {
    bytes = round_up(least_bytes, kRegionUnit);
    begin = map_region(bytes);
  }
  if (begin == nullptr) throw std::bad_alloc();
  regions_.emplace(begin, bytes);
  add_free(begin, bytes);
}

void MemoryArena::add_free(std::byte* begin, std::size_t bytes) {
  free_.emplace(begin, bytes);
  free_by_size_.emplace(bytes, begin);
}

void MemoryArena::remove_free(FreeBlocks::iterator block) {
  free_by_size_.erase({block->second, block->first});
  free_.erase(block);
}

/// From the smallest block that is large enough, of equal ones the lowest: the untouched rest of a
/// region comes last.
std::byte* MemoryArena::take(std::size_t bytes) {
  auto fit = free_by_size_.lower_bound({bytes, nullptr});
  if (fit == free_by_size_.end()) {
    add_region(bytes);
    fit = free_by_size_.lower_bound({bytes, nullptr});
  }
  const auto [size, begin] = *fit;
  remove_free(free_.find(begin));
  if (size > bytes) add_free(begin + bytes, size - bytes);
  return begin;
}

/// Joined with free neighbours of the same region.
void MemoryArena::put_back(std::byte* begin, std::size_t bytes) {
  const auto next = free_.find(begin + bytes);
  if (next != free_.end() && !regions_.contains(next->first)) {
    bytes += next->second;
    remove_free(next);
  }
  const auto after = free_.lower_bound(begin);
  if (after != free_.begin() && !regions_.contains(begin)) {
    const auto before = std::prev(after);
    if (before->first + before->second == begin) {
      begin = before->first;
      bytes += before->second;
      remove_free(before);
    }
  }
  add_free(begin, bytes);
}

}  // namespace qtool
