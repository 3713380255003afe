#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "config/config.h"
#include "model/model.h"
#include "verify/comparison.h"

namespace qtool {

/// How far an integer region is from the float model where it begins, behind the quantizers, and
/// where it ends: what it loses by itself lies between. The graph's inputs are left out.
struct RegionAccuracy {
  std::string first, last;  ///< names of nodes
  std::size_t node_count = 0;
  std::vector<TensorDistance> inputs, outputs;
};

/// Runs both models with the edges of the integer regions as outputs, on up to 32 samples from
/// all over `data`. `reference` is the float model that was quantized, preprocessed: its values
/// have the names that the quantized one's have. Empty where there is no edge to compare.
std::vector<RegionAccuracy> measure_regions(Model reference, const std::filesystem::path& quantized,
                                            const std::filesystem::path& data,
                                            const Config& config);

}  // namespace qtool
