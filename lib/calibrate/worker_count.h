#pragma once

#include <cstdint>

namespace qtool {

/// Bytes of memory that this process holds now.
std::uint64_t resident_bytes();

/// Bytes that this process could hold: the machine's memory, or less where the control group or a
/// limit says so.
std::uint64_t memory_limit();

/// How many samples may run side by side, when each takes `bytes_per_sample` beyond what they
/// share: a second one always, more as long as they add no more than 64 MB or a 64th of `limit`,
/// whichever is larger.
int worker_count(int threads, std::uint64_t bytes_per_sample, std::uint64_t limit);

}  // namespace qtool
