#pragma once

#include <cstddef>
#include <vector>

#include "config/config.h"
#include "model/model.h"
#include "model/tensor.h"

namespace qtool {

/// A sample of middle size, and how many there are.
struct TypicalSample {
  std::vector<NamedTensor> inputs;
  std::size_t sample_count = 0;  ///< with this one
};

/// Of `calibration.data`; nothing where there is no folder, or one that calibration will refuse.
TypicalSample typical_sample(const Config& config, const Model& model);

}  // namespace qtool
