#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "calibrate/statistics.h"
#include "model/model.h"

namespace qtool {

/// What each value of a tensor is of the value in the same place of another.
struct ValueFunction {
  std::string source;
  std::function<float(float)> apply;  ///< in float32, one operator after the other
};

/// Of `tensors` those of the main graph that operators with nothing but numbers beside them
/// (activations, Clip, Add and Mul of a number or of two such values) make of another of
/// `tensors`, which none of those is made from. Their distributions follow from the source's.
std::map<std::string, ValueFunction> value_functions(const Model& model,
                                                     std::span<const std::string> tensors);

/// The statistics of a tensor that is this function of one with statistics `source`, whose
/// distribution was recorded: each bin of that counts as spread evenly over what the function makes
/// of its ends. Extremes are those of the ends, and so exact where the function rises or falls all
/// the way; samples of extremes and sums over samples are not known. A bin with an end
/// that overflows counts as not finite.
TensorStatistics statistics_of(const ValueFunction& function, const TensorStatistics& source);

}  // namespace qtool
