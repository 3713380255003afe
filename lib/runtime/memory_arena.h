#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace qtool {

/// Memory for tensors, which is taken from the system in large regions and kept for reuse. What a
/// sequence of calls makes it touch depends on nothing but these calls.
class MemoryArena {
 public:
  static constexpr std::size_t kAlignment = 64;
  /// Address space alone: pages that are never touched take no memory. In one piece, so that
  /// neighbours that are free can be joined.
  static constexpr std::size_t kRegionBytes = std::size_t{256} << 20;

  MemoryArena() = default;
  MemoryArena(const MemoryArena&) = delete;
  MemoryArena& operator=(const MemoryArena&) = delete;
  ~MemoryArena();

  /// Aligned; throws std::bad_alloc where there is no memory. Any thread may call this and the
  /// following.
  void* allocate(std::size_t bytes);
  /// Gives memory back to the arena that it is from.
  static void release(void* memory);
  /// Gives regions back to the system that nothing is in.
  void trim();
  /// Of all regions.
  std::size_t reserved_bytes() const;

 private:
  /// Stands before what allocate() gives.
  struct alignas(kAlignment) Header {
    MemoryArena* arena;
    std::size_t bytes;
  };
  using FreeBlocks = std::map<std::byte*, std::size_t>;

  void add_region(std::size_t least_bytes);
  void add_free(std::byte* begin, std::size_t bytes);
  void remove_free(FreeBlocks::iterator block);
  std::byte* take(std::size_t bytes);
  void put_back(std::byte* begin, std::size_t bytes);

  mutable std::mutex mutex_;
  std::map<std::byte*, std::size_t> regions_;
  FreeBlocks free_;
  /// The same, by size and then place.
  std::set<std::pair<std::size_t, std::byte*>> free_by_size_;
};

}  // namespace qtool
