#pragma once

#include <cstddef>
#include <functional>

namespace qtool {

/// The number of cores that this process may use (affinity mask and cgroup quota included), at
/// least 1.
int available_cores();

/// Calls `work(index, worker)` once for every index below `count`, on up to `threads` threads;
/// `worker` < `threads` is the same for all calls of one thread. Indices are handed out in order.
/// The first exception, by index, is rethrown after all threads have stopped; no new index is begun
/// after a failure or an interrupt.
void parallel_for(std::size_t count, int threads,
                  const std::function<void(std::size_t index, int worker)>& work);

}  // namespace qtool
