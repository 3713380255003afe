#pragma once

#include <cstddef>
#include <functional>

namespace qtool {

/// Called now and then with samples done and samples in all; from one thread at a time.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

}  // namespace qtool
