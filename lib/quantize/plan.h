#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/element_type.h"
#include "model/graph_view.h"

namespace qtool {

/// Scale and zero point of a tensor: one each, or one per channel along `axis`.
struct QuantParams {
  ElementType type = ElementType::Undefined;
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
  std::optional<std::int64_t> axis;  ///< set: per channel
};

/// What becomes of one tensor. An initializer with several kinds of readers has one plan per kind.
struct TensorPlan {
  enum class Role {
    Activation,  ///< a Q/DQ pair stands on it
    Constant,    ///< an initializer stored as integers behind a DQ
    Bias,        ///< an initializer stored as int32 behind a DQ, scale = input scale x weight scale
  };
  std::string name;
  Role role = Role::Activation;
  QuantParams params;
  int provider = -1;  ///< index of the plan whose scale and zero point this one shares; -1: its own
  std::vector<Use> uses;  ///< readers that get the dequantized value; all others keep the float one
  bool replaces_value =
      false;  ///< Activation: the graph's outputs and subgraphs too see the dequantized value
  std::vector<std::int64_t> shape;  ///< Bias: shape to store, broadcast from the initializer's
  float factor = 1;                 ///< Bias: the values are multiplied by it first (beta of Gemm)
  std::vector<float> values;  ///< Bias: stored instead of the initializer's times factor, if any
  std::string derivation;  ///< where the parameters come from: `measured`, `weights`, `scale=x*w` …
};

/// A node or one of its tensors that stays in float, and why.
struct Skipped {
  int node = -1;
  std::string node_name;
  std::string op_type;
  std::string tensor;  ///< empty: the whole node
  std::string reason;
};

/// Relu or Clip whose work the quantizer behind it does: its input's producer writes `output`, the
/// node goes away.
struct FoldedNode {
  int node = -1;
  std::string input, output;
};

/// Everything that quantization decided of a graph, in graph order. Lowering reads it and decides
/// nothing.
struct QuantPlan {
  std::vector<TensorPlan> tensors;
  std::vector<FoldedNode> folded;
  std::vector<int>
      scaled_biases;  ///< Gemm nodes whose beta went into the stored bias: the attribute becomes 1
  std::vector<Skipped> skipped;
  std::vector<int>
      quantized_nodes;  ///< nodes that read at least one quantized tensor by their rule
  std::vector<std::string> warnings;
};

/// One line per tensor in graph order: `x uint8 measured`, `w int8 axis=0 weights`, `b int32
/// scale=x*w`; then a line per folded and per skipped node.
std::string to_text(const QuantPlan& plan);

}  // namespace qtool
