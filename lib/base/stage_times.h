#pragma once

#include <string>
#include <utility>
#include <vector>

namespace qtool {

/// Stage of a command -> wall time in seconds, in the order in which they ran.
using StageTimes = std::vector<std::pair<std::string, double>>;

}  // namespace qtool
