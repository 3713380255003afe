#pragma once

#include <string>

#include "base/machine.h"
#include "config/config.h"

namespace qtool {

/// A preset that nobody named, and why it is this one.
struct PresetChoice {
  Preset preset = Preset::Cpu;
  std::string reason;
};

/// The preset for ONNX Runtime's CPU provider on a machine with these features.
PresetChoice preset_for(const MachineFeatures& machine);

}  // namespace qtool
