#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "model/tensor.h"

namespace qtool {

/// The folders of samples that `data` means for a model with these inputs, in natural order: itself
/// where it is one, else its sub-folders where it holds nothing but folders of samples. Whether all
/// of them are, who opens them will see. `Io` error where one cannot be
/// read.
std::vector<std::filesystem::path> find_scenarios(const std::filesystem::path& data,
                                                  std::span<const TensorInfo> inputs);

}  // namespace qtool
