#pragma once

#include <cstdint>
#include <vector>

namespace qtool {

/// How many values of a tensor lie in an interval; they count as spread evenly over it.
struct DensityBin {
  float low = 0;
  float high = 0;
  std::uint64_t count = 0;
  friend bool operator==(const DensityBin&, const DensityBin&) = default;
};

/// The values of a tensor by interval: ascending, none overlapping, none empty. Zeros are an
/// interval [0, 0] of their own.
struct Density {
  std::vector<DensityBin> bins;
  float min = 0;  ///< of all values, exactly
  float max = 0;
  std::uint64_t count = 0;  ///< of all bins together
};

}  // namespace qtool
