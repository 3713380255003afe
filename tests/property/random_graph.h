#pragma once

#include <cstdint>

#include "model/model.h"

namespace qtool::testing {

/// A random convolutional graph that is sound and small: Conv with and without bias, Relu, Clip,
/// Add, Concat, MaxPool, Pad, Transpose, Sigmoid, and Gemm at the end. The same seed gives the same
/// graph on every machine.
Model random_graph(std::uint32_t seed);

/// The same with what exporters write in many nodes, or for nothing: constants applied to channels,
/// copies, transposes that undo each other, padding, chains of reshapes, hard swish.
Model simplifiable_graph(std::uint32_t seed);

}  // namespace qtool::testing
