#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace qtool {

/// The interval of real values that a tensor is quantized over.
struct Range {
  float min = 0;
  float max = 0;
  /// Standard deviation of the values, where method distribution measured it; float8 is scaled by
  /// it.
  double deviation = 0;
  friend bool operator==(const Range&, const Range&) = default;
};

/// Tensor name -> range. A tensor that was never seen (a branch not taken, always empty) has none.
using TensorRanges = std::map<std::string, Range>;

/// A tensor whose mean is wanted by channel.
struct AveragedTensor {
  std::string name;
  std::int64_t axis = 1;  ///< along which its channels lie; -1: the last
  friend bool operator==(const AveragedTensor&, const AveragedTensor&) = default;
};

/// Tensor name -> mean of each channel over all samples.
using ChannelMeans = std::map<std::string, std::vector<double>>;

/// Tensor name -> largest magnitude of each channel over all samples.
using ChannelPeaks = std::map<std::string, std::vector<float>>;

}  // namespace qtool
