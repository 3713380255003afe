#pragma once

#include <optional>
#include <vector>

#include "preprocess/affine.h"
#include "preprocess/graph_editor.h"

namespace qtool {

/// A node that multiplies its first input by a constant weight: Conv, ConvTranspose, Gemm or
/// MatMul.
struct Layer {
  enum class Kind { Conv, ConvTranspose, Gemm, MatMul };
  int node = 0;
  Kind kind = Kind::Conv;
  Channels inputs;
  Channels outputs;
  std::vector<std::int64_t> weight_shape;
  std::int64_t groups = 1;
  bool is_transposed = false;  ///< Gemm: outputs are the rows of the weight
  double alpha = 1, beta = 1;  ///< Gemm

  bool has_bias_input() const { return kind != Kind::MatMul; }
  /// The channels that element `i` of the weight leads from and to.
  std::size_t input_of(std::size_t i) const;
  std::size_t output_of(std::size_t i) const;
};

/// The layer at node `index`, or nothing.
std::optional<Layer> layer_at(const GraphEditor& graph, int index);

/// The layer's weight with each element multiplied by its input's or its output's factor.
std::optional<onnx::TensorProto> weight_by_input(const GraphEditor& graph, const Layer& layer,
                                                 const std::vector<double>& factor);
std::optional<onnx::TensorProto> weight_by_output(const GraphEditor& graph, const Layer& layer,
                                                  const std::vector<double>& factor);

/// What the constant `name` adds to each output channel, times `beta`; zeros for an empty name,
/// nothing where that is no matter of channels.
std::optional<std::vector<double>> bias_of(const GraphEditor& graph, const Layer& layer,
                                           const std::string& name, double beta);

/// Gives a layer with a bias input both; false where the bias has no numbers of the weight's type.
bool set_weight_and_bias(GraphEditor& graph, const Layer& layer, onnx::TensorProto weight,
                         const std::vector<double>& bias);

}  // namespace qtool
