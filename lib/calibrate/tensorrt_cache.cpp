#include "calibrate/tensorrt_cache.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/error.h"
#include "model/messages.h"

namespace qtool {

std::string tensorrt_cache(const TensorRanges& ranges) {
  std::string out;
  for (const auto& [name, range] : ranges) {
    if (name.find_first_of(" \t\n\v\f\r") != std::string::npos) {
      throw Error(ErrorKind::Input, fmt::format("tensor {}: its name has white space, expected "
                                                "none in a table for TensorRT",
                                                in_quotes(name)));
    }
    // The shortest digits that are read as the same float32.
    out += fmt::format("{} {}\n", name, std::max(std::abs(range.min), std::abs(range.max)));
  }
  return out;
}

}  // namespace qtool
