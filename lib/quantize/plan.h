#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/element_type.h"

namespace qtool {

/// Scale and zero point of a tensor, one each or one per channel along `axis`.
struct QuantParams {
  ElementType type = ElementType::Undefined;
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
  std::optional<std::int64_t> axis;  ///< set: per channel
};

/// What becomes of one tensor. Exactly one of the roles:
struct TensorPlan {
  enum class Role {
    Activation,  ///< a Q/DQ pair stands on it
    Constant,    ///< an initializer stored as integers behind a DQ
    Bias,        ///< an initializer stored as int32 with scale = input scale x weight scale
  };
  std::string name;
  Role role = Role::Activation;
  QuantParams params;
  std::string shares_with;       ///< tensor whose scale and zero point are used; empty: its own
  std::string input, weight;     ///< Bias: where its scale comes from
  std::string derivation;        ///< `measured`, `weights`, `scale=x*w` …: for the printed plan
};

/// A node that stays in float, or an input of one, and why.
struct Skipped {
  int node = -1;
  std::string node_name;
  std::string op_type;
  std::string tensor;  ///< empty: the whole node
  std::string reason;
};

/// Relu or Clip whose work the quantizer behind it does; the node goes away.
struct FoldedNode {
  int node = -1;
  std::string input, output;
};

/// Everything that quantization decided of a graph, in graph order. Lowering reads it and decides nothing.
struct QuantPlan {
  std::vector<TensorPlan> tensors;
  std::vector<FoldedNode> folded;
  std::vector<Skipped> skipped;
  std::vector<std::string> quantized_nodes;   ///< names of nodes with at least one quantized input
  std::vector<std::string> warnings;
};

/// One line per tensor in graph order: `x uint8 measured`, `w int8 axis=0`, `b int32 scale=x*w`.
std::string to_text(const QuantPlan& plan);

}  // namespace qtool
