#include "config/machine_preset.h"

namespace qtool {

PresetChoice preset_for(const MachineFeatures& machine) {
  if (machine.is_arm64) return {Preset::Arm64, "this machine is arm64"};
  if (!machine.has_avx2) return {Preset::Cpu, "this machine has no AVX2"};
  if (!machine.has_vnni) return {Preset::CpuAvx2, "this machine has AVX2 and no VNNI"};
  return {Preset::Cpu, "this machine has VNNI"};
}

}  // namespace qtool
