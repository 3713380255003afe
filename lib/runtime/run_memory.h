#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <onnxruntime_cxx_api.h>

#include "runtime/memory_arena.h"

namespace qtool {

/// Where observed sessions have their tensors. Runs side by side use an arena each: in one that all
/// share, how they happen to meet would decide how much memory is taken.
class RunMemory : public OrtAllocator {
 public:
  RunMemory();
  RunMemory(const RunMemory&) = delete;
  RunMemory& operator=(const RunMemory&) = delete;

  /// While it lives, what this thread allocates comes from an arena that no other lease has.
  class Lease {
   public:
    explicit Lease(RunMemory& memory);
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();

   private:
    RunMemory& memory_;
    std::size_t arena_;
  };

  /// Gives back to the system what no session uses any more.
  void trim();

 private:
  struct Leasable {
    MemoryArena arena;
    bool is_leased = false;
  };

  MemoryArena& arena_of_this_thread();
  Leasable& at(std::size_t index);

  Ort::MemoryInfo info_;
  std::mutex mutex_;
  /// The first is also for what is allocated outside of leases.
  std::vector<std::unique_ptr<Leasable>> arenas_;
};

}  // namespace qtool
