#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/tensor.h"

namespace qtool {

/// For each name in `wanted` its index in `available`: the one of the same name, else the one at
/// the same position where no name claims it, else nothing.
std::vector<std::optional<std::size_t>> match_names(std::span<const std::string> wanted,
                                                    std::span<const std::string> available);

std::vector<std::string> names_of(std::span<const TensorInfo> infos);

}  // namespace qtool
