#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/element_type.h"
#include "model/graph_view.h"

namespace qtool {

/// Scale and zero point of a tensor: one each, one per channel along `axis`, or one per block of
/// `block_size` values along `axis`.
struct QuantParams {
  ElementType type =
      ElementType::Undefined;  ///< an integer type, or Float8E4M3FN with zero points 0
  std::vector<float> scales;
  std::vector<std::int32_t> zero_points;
  std::optional<std::int64_t> axis = {};  ///< set: per channel or per block
  std::int64_t block_size = 0;            ///< set: per block
  /// Of scales and zero points where they are per block: the tensor's, with blocks counted along
  /// `axis`.
  std::vector<std::int64_t> block_shape = {};
  /// Float or Float16, as the tensor: what the scales are stored as, and exact in.
  ElementType scale_type = ElementType::Float;
};

/// The shape that scales and zero points are stored in: none for one of each, [C], or blocks.
std::vector<std::int64_t> stored_shape(const QuantParams& params);

/// A second quantization of a value, for readers that want another type.
struct Conversion {
  QuantParams params;
  std::vector<Use> uses;
  bool replaces_value = false;  ///< the graph's outputs too see this one, and every reader has it
};

/// What becomes of one tensor. An initializer with several kinds of readers has one plan per kind.
struct TensorPlan {
  enum class Role {
    Activation,  ///< a Q/DQ pair stands on it
    Constant,    ///< an initializer stored as integers behind a DQ
    Bias,  ///< an initializer stored as int32 behind a DQ, scale = input scale x weight scale;
           ///< where `params.type` is Float, stored so behind a Cast to its type
  };
  std::string name;  ///< of the tensor; names made up for this plan begin with it
  Role role = Role::Activation;
  QuantParams params;
  int provider = -1;  ///< index of the plan whose scale and zero point this one shares; -1: its own
  int source = -1;  ///< index of the plan whose integers this one reads: a node that only rescales
                    ///< made it, and is in the scale and zero point now; -1: it has its own
  std::vector<Use> uses =
      {};  ///< readers that get the dequantized value; others keep the float one
  /// Activation: the graph's outputs and subgraphs too see the dequantized value. Bias: all readers
  /// do, and the initializer goes.
  bool replaces_value = false;
  bool has_pair_per_reader = false;  ///< Activation: no two nodes share a Q/DQ pair
  bool keeps_float = false;          ///< Constant: stays as it is, with a Q/DQ pair behind it
  std::optional<Conversion> conversion = {};  ///< Activation
  bool shares_conversion = false;        ///< with a provider: its conversion's scale and zero point
  std::vector<std::int64_t> shape = {};  ///< Bias: shape to store, broadcast from the initializer's
  float factor = 1;  ///< Bias: the values are multiplied by it first (beta of Gemm)
  std::vector<float> values =
      {};                        ///< Bias: stored instead of the initializer's times factor, if any
  std::string initializer = {};  ///< Bias: whose values are stored, where that is not `name`
  ElementType value_type = ElementType::Float;  ///< of the tensor, and so of what a DQ gives
  std::string derivation;  ///< where the parameters come from: `measured`, `weights`, `scale=x*w` …
  /// Activation: its quantizer has so many scales along axis 1, all the same; 0: it has one.
  std::int64_t equal_scales = 0;
  /// Activation: what its scale was multiplied with, so that sums stay in 16 bits.
  double headroom = 1;
  /// Constant: what each of its scales was multiplied with, so that sums stay in 16 bits; empty
  /// where nothing adds in so many.
  std::vector<double> widening = {};
};

/// What `reader` sees the tensor quantized with.
const QuantParams& params_seen_by(const TensorPlan& plan, Use reader);

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

/// What becomes of a node where operators work on integers (QOperator). Plans are indices into the
/// tensors of the plan.
struct NodeForm {
  enum class Kind {
    Integer,  ///< becomes its integer form (integer_forms.h)
    Gone,     ///< would change nothing: its output is what it reads as input 0
  };
  int node = -1;
  Kind kind = Kind::Integer;
  std::vector<int> inputs;   ///< by slot, the plan that is read in integers; -1: as it is
  std::vector<int> outputs;  ///< the plan that is written in integers; -1: as it is
};

/// How lowering writes what means the same either way.
enum class Convention {
  Own,  ///< new nodes stand behind what makes their input; scale and zero point have one shape
  OnnxRuntime,  ///< as onnxruntime.quantization: its order of nodes, its shapes of a bias's scale
};

struct BodyPlan;

/// Everything that quantization decided of a graph, in graph order. Lowering reads it and decides
/// nothing.
struct QuantPlan {
  std::string qdq_domain = {};  ///< of QuantizeLinear and DequantizeLinear
  Convention convention = Convention::Own;
  std::vector<TensorPlan> tensors;
  std::vector<FoldedNode> folded;
  std::vector<int> absorbed;    ///< nodes that the plan of their output does without (`source`)
  std::vector<NodeForm> forms;  ///< QOperator, in graph order; all other nodes work on floats
  std::vector<int>
      scaled_biases;  ///< Gemm nodes whose beta went into the stored bias: the attribute becomes 1
  std::vector<Skipped> skipped;
  std::vector<int>
      quantized_nodes;  ///< nodes that read at least one quantized tensor by their rule
  std::vector<std::string> warnings;  ///< of the main graph's plan: also those of all bodies
  std::vector<BodyPlan> bodies;       ///< of the nodes of this graph
};

/// The plan for a body: the graph that attribute number `attribute` of node `node` holds. A
/// constant of a graph around it may be in the plan, and is then stored in the graph that it is
/// from.
struct BodyPlan {
  int node = -1;
  int attribute = -1;
  std::string name;  ///< `then_branch of node 'cond' (If)`
  QuantPlan plan;
};

const onnx::GraphProto& body_graph(const onnx::GraphProto& graph, const BodyPlan& body);

/// Calls `visit(graph, plan)` for `plan`, which was made for `graph`, and for the plans of all
/// bodies below.
template <typename Visit>
void for_each_plan(const onnx::GraphProto& graph, const QuantPlan& plan, const Visit& visit) {
  visit(graph, plan);
  for (const BodyPlan& body : plan.bodies) for_each_plan(body_graph(graph, body), body.plan, visit);
}

/// The tensors of a plan and of the plans of all bodies below.
std::vector<const TensorPlan*> all_tensors(const QuantPlan& plan);

/// One line per tensor in graph order: `x uint8 measured`, `w int8 axis=0 weights`, `b int32
/// scale=x*w`; then a line per folded and per skipped node; then each body's plan, indented below
/// its name.
std::string to_text(const QuantPlan& plan);

}  // namespace qtool
