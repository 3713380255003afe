#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/plan.h"

namespace qtool {

/// Whether a model was quantized, or trained to be, before it came here: some graph of it has a
/// QuantizeLinear, or a constant behind a DequantizeLinear. A DequantizeLinear on an input of
/// integers alone is no such sign.
bool carries_pairs(const Model& model);

/// Whether an operator quantizes, dequantizes or works on quantized values, by the names that ONNX
/// and ONNX Runtime give such operators.
bool is_quantized_operator(const onnx::NodeProto& node);

/// `Input` error naming the first node, of any graph, that quantizes, dequantizes or works on
/// quantized values.
void refuse_quantized(const Model& model);

/// The Q/DQ pairs that a graph brings. The scale of a value that such a pair stands on is decided.
class ExistingPairs {
 public:
  ExistingPairs(const Model& model, const GraphView& graph);

  /// Whether a node reads a dequantized value, be it moved, or gives one that is quantized at once
  /// or behind a Relu or Clip.
  bool hold(int node) const { return holds_[static_cast<std::size_t>(node)]; }
  /// Scale and zero point of what a DequantizeLinear gives, at once or behind operators that move
  /// values; nothing where they are not constant, or per block.
  std::optional<QuantParams> params_of(const std::string& value) const;

 private:
  const onnx::NodeProto* dequantizer_of(const std::string& value,
                                        std::vector<const onnx::NodeProto*>& moves) const;
  bool reads_dequantized(const onnx::NodeProto& node) const;
  bool is_quantized(const std::string& value) const;
  std::optional<QuantParams> params_at(const onnx::NodeProto& dequantizer) const;

  const Model& model_;
  const GraphView& graph_;
  std::vector<bool> holds_;
};

}  // namespace qtool
