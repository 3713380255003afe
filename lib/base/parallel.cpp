#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fstream>
#include <mutex>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include "base/interrupt.h"

namespace qtool {
namespace {

/// Cores that the control group's quota (version 2, then 1) grants, or a large number without one.
double quota_cores() {
  std::string quota;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max");
      file >> quota >> period && quota != "max" && period > 0) {
    return std::strtod(quota.c_str(), nullptr) / period;
  }
  double quota_us = 0;
  std::ifstream quota_file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  std::ifstream period_file("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (quota_file >> quota_us && period_file >> period && quota_us > 0 && period > 0)
    return quota_us / period;
  return 1e9;
}

}  // namespace

int available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (::sched_getaffinity(0, sizeof set, &set) == 0) cores = CPU_COUNT(&set);
  return std::max(1, static_cast<int>(std::min<double>(cores, quota_cores() + 0.999)));
}

void parallel_for(std::size_t count, int threads,
                  const std::function<void(std::size_t, int)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr failure;
  std::size_t failed_index = count;
  const auto run = [&](int worker) {
    while (!stop && !interrupted()) {
      const std::size_t index = next.fetch_add(1);
      if (index >= count) return;
      try {
        work(index, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (index < failed_index) {
          failed_index = index;
          failure = std::current_exception();
        }
        stop = true;
      }
    }
  };
  {
    const auto extra = static_cast<int>(std::min<std::size_t>(
                           count, static_cast<std::size_t>(std::max(threads, 1)))) -
                       1;
    std::vector<std::jthread> pool;
    for (int worker = 1; worker <= extra; ++worker) pool.emplace_back(run, worker);
    run(0);
  }
  if (failure) std::rethrow_exception(failure);
  throw_if_interrupted();
}

}  // namespace qtool
