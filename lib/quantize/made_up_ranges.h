#pragma once

#include <span>
#include <string>

#include "calibrate/ranges.h"
#include "model/model.h"

namespace qtool {

/// Ranges for tensors of a model that was never run, by which what the quantizers' bounds and zero
/// points decide comes out as a draft assumes: they do the work of every Relu and Clip before them,
/// and take offsets behind them. No two are alike but where bounds make them so, as in a model that
/// was measured: of equal scales runtimes make less.
TensorRanges made_up_ranges(const Model& model, std::span<const std::string> tensors);

}  // namespace qtool
