#include "config/machine_preset.h"

#include "catch.h"

namespace qtool {
namespace {

TEST_CASE("machine preset: VNNI or the lack of AVX2 is cpu, AVX2 alone cpu-avx2", "[config]") {
  CHECK(preset_for({.has_avx2 = true, .has_vnni = true}).preset == Preset::Cpu);
  CHECK(preset_for({}).preset == Preset::Cpu);
  const PresetChoice avx2 = preset_for({.has_avx2 = true});
  CHECK(avx2.preset == Preset::CpuAvx2);
  CHECK(avx2.reason == "this machine has AVX2 and no VNNI");
  CHECK(preset_for({.is_arm64 = true}).preset == Preset::Arm64);
}

}  // namespace
}  // namespace qtool
