#pragma once

#include <map>
#include <string>

namespace qtool {

/// The interval of real values that a tensor is quantized over.
struct Range {
  float min = 0;
  float max = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Tensor name -> range. A tensor that was never seen (a branch not taken, always empty) has none.
using TensorRanges = std::map<std::string, Range>;

}  // namespace qtool
