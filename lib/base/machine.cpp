#include "base/machine.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace qtool {

#if defined(__x86_64__)

namespace {

/// Leaf 7, subleaf 1: bit 4 of EAX.
bool has_avx_vnni() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kAvxVnni = 1U << 4U;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvxVnni) != 0;
}

}  // namespace

MachineFeatures machine_features() {
  __builtin_cpu_init();
  MachineFeatures out;
  out.has_avx2 = __builtin_cpu_supports("avx2") != 0;
  out.has_vnni = out.has_avx2 && (__builtin_cpu_supports("avx512vnni") != 0 || has_avx_vnni());
  return out;
}

#elif defined(__aarch64__)

MachineFeatures machine_features() { return {.is_arm64 = true}; }

#else

MachineFeatures machine_features() { return {}; }

#endif

}  // namespace qtool
