#include "runtime/memory_arena.h"

#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <thread>
#include <vector>

#include "catch.h"

namespace qtool {
namespace {

std::vector<void*> allocated(MemoryArena& arena, std::initializer_list<std::size_t> sizes) {
  std::vector<void*> out;
  for (const std::size_t size : sizes) out.push_back(arena.allocate(size));
  return out;
}

TEST_CASE("memory arena: blocks are aligned and do not overlap", "[runtime]") {
  MemoryArena arena;
  const std::vector<std::size_t> sizes = {0, 1, 63, 64, 65, 5000};
  std::vector<unsigned char*> blocks;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    blocks.push_back(static_cast<unsigned char*>(arena.allocate(sizes[i])));
    CHECK(reinterpret_cast<std::uintptr_t>(blocks[i]) % MemoryArena::kAlignment == 0);
    std::memset(blocks[i], static_cast<int>(i + 1), sizes[i]);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (std::size_t k = 0; k < sizes[i]; ++k) REQUIRE(blocks[i][k] == i + 1);
    MemoryArena::release(blocks[i]);
  }
}

TEST_CASE("memory arena: free neighbours become one block again", "[runtime]") {
  MemoryArena arena;
  const auto blocks = allocated(arena, {1000, 1000, 1000, 1000});
  for (const std::size_t i : {0U, 2U, 1U}) MemoryArena::release(blocks[i]);
  CHECK(arena.allocate(3000) == blocks[0]);
}

TEST_CASE("memory arena: takes the smallest block that is large enough", "[runtime]") {
  MemoryArena arena;
  const auto blocks = allocated(arena, {9000, 10, 500, 10, 700, 10});
  for (const std::size_t i : {0U, 2U, 4U}) MemoryArena::release(blocks[i]);
  CHECK(arena.allocate(600) == blocks[4]);
  CHECK(arena.allocate(500) == blocks[2]);
}

TEST_CASE("memory arena: a block beyond a region has a region of its own", "[runtime]") {
  MemoryArena arena;
  void* const large = arena.allocate(MemoryArena::kRegionBytes + 1);
  CHECK(arena.reserved_bytes() > MemoryArena::kRegionBytes);
  CHECK(arena.reserved_bytes() < 2 * MemoryArena::kRegionBytes);
  MemoryArena::release(large);
}

TEST_CASE("memory arena: gives back only what nothing is in", "[runtime]") {
  MemoryArena arena;
  const auto blocks = allocated(arena, {100, MemoryArena::kRegionBytes});
  MemoryArena::release(blocks[1]);
  arena.trim();
  CHECK(arena.reserved_bytes() == MemoryArena::kRegionBytes);
  MemoryArena::release(blocks[0]);
  arena.trim();
  CHECK(arena.reserved_bytes() == 0);
}

TEST_CASE("memory arena: a block may be released on another thread", "[runtime]") {
  MemoryArena arena;
  void* const block = arena.allocate(100);
  std::jthread([&] { MemoryArena::release(block); }).join();
  CHECK(arena.allocate(100) == block);
}

TEST_CASE("memory arena: what no machine has is refused", "[runtime]") {
  MemoryArena arena;
  CHECK_THROWS_AS(arena.allocate(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  CHECK_THROWS_AS(arena.allocate(std::numeric_limits<std::size_t>::max() / 4), std::bad_alloc);
  CHECK(arena.reserved_bytes() == 0);
}

}  // namespace
}  // namespace qtool
