#include "runtime/run_memory.h"

#include <optional>
#include <thread>

#include "catch.h"

namespace qtool {
namespace {

/// Allocates as a run on another thread does, at whose end it gives all back.
void* block_of_a_run(RunMemory& memory) {
  void* out = nullptr;
  std::jthread([&] {
    const RunMemory::Lease lease(memory);
    out = memory.Alloc(&memory, 1000);
    memory.Free(&memory, out);
  }).join();
  return out;
}

TEST_CASE("run memory: runs one after the other use the same memory", "[runtime]") {
  RunMemory memory;
  CHECK(block_of_a_run(memory) == block_of_a_run(memory));
}

TEST_CASE("run memory: a run beside another leaves the memory of that alone", "[runtime]") {
  RunMemory memory;
  void* const first = block_of_a_run(memory);
  std::optional<RunMemory::Lease> lease(memory);
  CHECK(block_of_a_run(memory) != first);
  void* const mine = memory.Alloc(&memory, 1000);
  CHECK(mine == first);
  memory.Free(&memory, mine);
  lease.reset();
  CHECK(block_of_a_run(memory) == first);
}

TEST_CASE("run memory: what is loaded outside of runs shares with the first of them", "[runtime]") {
  RunMemory memory;
  void* const block = memory.Alloc(&memory, 1000);
  memory.Free(&memory, block);
  CHECK(block_of_a_run(memory) == block);
}

}  // namespace
}  // namespace qtool
