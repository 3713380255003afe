#include "runtime/run_memory.h"

namespace qtool {
namespace {

// ONNX Runtime does not say for which run it allocates.
thread_local MemoryArena* leased_arena = nullptr;

}  // namespace

RunMemory::RunMemory()
    : OrtAllocator{}, info_(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault)) {
  version = ORT_API_VERSION;
  OrtAllocator::Alloc = [](OrtAllocator* self, std::size_t bytes) {
    return static_cast<RunMemory*>(self)->arena_of_this_thread().allocate(bytes);
  };
  OrtAllocator::Reserve = OrtAllocator::Alloc;
  OrtAllocator::Free = [](OrtAllocator*, void* memory) { MemoryArena::release(memory); };
  OrtAllocator::Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* {
    return static_cast<const RunMemory*>(self)->info_;
  };
}

RunMemory::Leasable& RunMemory::at(std::size_t index) {
  while (arenas_.size() <= index) arenas_.push_back(std::make_unique<Leasable>());
  return *arenas_[index];
}

MemoryArena& RunMemory::arena_of_this_thread() {
  if (leased_arena != nullptr) return *leased_arena;
  const std::lock_guard lock(mutex_);
  return at(0).arena;
}

void RunMemory::trim() {
  const std::lock_guard lock(mutex_);
  for (const auto& each : arenas_) each->arena.trim();
}

RunMemory::Lease::Lease(RunMemory& memory) : memory_(memory), arena_(0) {
  const std::lock_guard lock(memory_.mutex_);
  while (memory_.at(arena_).is_leased) ++arena_;
  memory_.at(arena_).is_leased = true;
  leased_arena = &memory_.at(arena_).arena;
}

RunMemory::Lease::~Lease() {
  const std::lock_guard lock(memory_.mutex_);
  memory_.at(arena_).is_leased = false;
  leased_arena = nullptr;
}

}  // namespace qtool
