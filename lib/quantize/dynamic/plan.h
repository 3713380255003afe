#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <onnx/onnx_pb.h>

#include "quantize/plan.h"

namespace qtool {

/// An initializer stored in 8 bits, once for every way in which nodes read it.
struct StoredWeight {
  std::string source;  ///< the initializer
  std::string stem;    ///< what the names of the stored tensors begin with
  int graph = 0;       ///< where it is stored: its graph's place in the order of for_each_graph
  QuantParams params;
  std::vector<std::int64_t> shape;         ///< of the integers
  std::vector<std::int64_t> params_shape;  ///< of scale and zero point
  bool has_one_zero_point = false;         ///< the same for all channels, stored as a scalar
  float factor = 1;                        ///< scales are stored times it
  std::optional<std::vector<std::byte>>
      values;                    ///< the integers; without, `make_integers` gives them
  onnx::TensorProto reference;   ///< then: the floats in their file
  std::int64_t joined_axes = 0;  ///< of the initializer, which `params.axis` counts as one
  bool swaps_last_axes = false;  ///< the integers are stored so
  ElementType value_type = ElementType::Float;  ///< of the initializer
  bool replaces_value = false;  ///< float readers get it dequantized; others keep the initializer
};

/// What becomes of a node that is quantized.
struct DynamicNode {
  enum class Form {
    Product,        ///< MatMul or Gemm: MatMulInteger, scaled
    Convolution,    ///< ConvInteger, scaled
    Lstm,           ///< DynamicQuantizeLSTM
    StoredWeights,  ///< itself, behind DequantizeLinear of its weights
    Attention,      ///< QAttention
    Embedding,      ///< QEmbedLayerNormalization
    Gather,         ///< itself, on the stored weight
    Mover,          ///< itself, on the integers of its input
  };
  /// An input that is no stored weight.
  static constexpr int kAsIs = -1;
  static constexpr int kAtRunTime = -2;  ///< quantized at run time, or in integers already

  int node = -1;
  Form form = Form::Product;
  ElementType value_type = ElementType::Float;  ///< of what it computes with
  std::vector<int> inputs;                      ///< by slot: a weight's index, or one of the above
  /// Values between a weight and this node, which it no longer reads; the graph's place and name.
  std::vector<std::pair<int, std::string>> bypassed = {};
};

/// What dynamic quantization decided of a model. Lowering reads it and decides nothing.
struct DynamicPlan {
  Convention convention = Convention::Own;
  std::vector<StoredWeight> weights;             ///< in the order of their first readers
  std::vector<std::vector<DynamicNode>> graphs;  ///< in the order of for_each_graph
  std::size_t quantized_nodes = 0;
  /// How many nodes of a type take a form.
  std::map<std::pair<std::string, DynamicNode::Form>, std::size_t> forms = {};
  std::vector<Skipped> left;  ///< every node that stays in float, of all graphs
  std::vector<std::string> warnings;
};

/// What a node in that form is called, by the operator that it becomes.
std::string form_name(DynamicNode::Form form);

/// One line per weight, then one per node in float.
std::string to_text(const DynamicPlan& plan);

}  // namespace qtool
