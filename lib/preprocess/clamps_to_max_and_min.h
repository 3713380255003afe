#pragma once

#include <set>
#include <string>

#include "model/model.h"

namespace qtool {

/// Puts Max in place of each Relu, and Max and Min in place of each Clip, that makes one of
/// `values` as float32. They keep names; a Clip that has its bounds as attributes stays.
void clamps_to_max_and_min(Model& model, const std::set<std::string>& values);

}  // namespace qtool
