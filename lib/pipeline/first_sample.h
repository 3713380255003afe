#pragma once

#include <cstddef>
#include <vector>

#include "config/config.h"
#include "model/model.h"
#include "model/tensor.h"

namespace qtool {

/// What calibration begins with, and how much of it there is.
struct FirstSample {
  std::vector<NamedTensor> inputs;
  std::size_t sample_count = 0;  ///< with this one
};

/// Of `calibration.data`; nothing where there is no folder, or one that calibration will refuse.
FirstSample first_sample(const Config& config, const Model& model);

}  // namespace qtool
