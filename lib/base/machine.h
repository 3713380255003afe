#pragma once

namespace qtool {

/// What the running machine's processor can do, as far as integer kernels choose by it.
struct MachineFeatures {
  bool is_arm64 = false;
  bool has_avx2 = false;
  bool has_vnni = false;  ///< AVX-512 or AVX VNNI: products of bytes are added in 32 bits
};

/// Of the machine that this runs on; the operating system's word counts where it has one.
MachineFeatures machine_features();

}  // namespace qtool
