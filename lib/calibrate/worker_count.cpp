#include "calibrate/worker_count.h"

#include <algorithm>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace qtool {
namespace {

constexpr std::uint64_t kExtraBytes = std::uint64_t{64} << 20;
constexpr std::uint64_t kShareOfLimit = 64;

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

/// The number in a file of the control group, or the largest where it has none (`max`).
std::uint64_t number_in(const char* path) {
  std::uint64_t out = 0;
  return std::ifstream(path) >> out ? out : ~std::uint64_t{0};
}

std::uint64_t resource_limit(int resource) {
  rlimit limit{};
  return ::getrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0 ? limit.rlim_cur
                                                                            : ~std::uint64_t{0};
}

}  // namespace

std::uint64_t resident_bytes() {
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * page_bytes();
}

std::uint64_t memory_limit() {
  const std::uint64_t machine =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page_bytes();
  return std::min({machine, number_in("/sys/fs/cgroup/memory.max"),
                   number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
                   resource_limit(RLIMIT_AS)});
}

int worker_count(int threads, std::uint64_t bytes_per_sample, std::uint64_t limit) {
  const std::uint64_t budget = std::max(kExtraBytes, limit / kShareOfLimit);
  const std::uint64_t more = budget / std::max<std::uint64_t>(bytes_per_sample, 1);
  const std::uint64_t workers = std::max<std::uint64_t>(2, 1 + more);
  return static_cast<int>(
      std::min<std::uint64_t>(workers, static_cast<std::uint64_t>(std::max(threads, 1))));
}

}  // namespace qtool
