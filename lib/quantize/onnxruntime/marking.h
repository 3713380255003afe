#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "config/config.h"
#include "model/graph_view.h"
#include "model/model.h"
#include "quantize/onnxruntime/marks.h"
#include "quantize/onnxruntime/range_sources.h"
#include "quantize/plan.h"
#include "quantize/tensor_overrides.h"

namespace qtool {

/// How a bias belongs to its node's weight.
struct BiasLayout {
  std::int64_t channel_axis = 0;  ///< axis of the weight along which the bias has an element each
  std::int64_t groups = 1;        ///< so many elements share an index of that axis
  float factor = 1;               ///< the node counts the bias so many times
};

/// A bias that gets the product of the scales of a node's first two inputs.
struct MarkedBias {
  std::string name;         ///< a new one for each reader after the first
  std::string initializer;  ///< whose values it has
  Use use;
  BiasLayout layout;
};

/// What onnxruntime.quantization knows once it has walked the nodes.
struct Marking {
  TensorMarks tensors;
  std::vector<MarkedBias> biases;  ///< in the order of their nodes
  std::vector<FoldedNode> folded;
  std::vector<Skipped> skipped;
  std::vector<int> quantized_nodes;  ///< those that were to be quantized and were not refused
  std::unordered_map<std::string, std::vector<Use>> readers;  ///< their inputs, by tensor
};

/// What a walk needs to know. Borrows everything.
struct MarkingContext {
  const Model& model;
  const GraphView& graph;
  const QuantizationConfig& config;
  const TensorOverrides& overrides;
  const RangeSources& ranges;
};

/// Which nodes the config lets quantization touch, by index; and why not.
struct NodeSelection {
  std::vector<bool> takes_part;
  std::vector<std::string> reasons;
};
NodeSelection select_nodes(const GraphView& graph, const QuantizationConfig& config);

/// Walks the nodes in order and marks what onnxruntime.quantization 1.32 marks.
Marking mark_tensors(const MarkingContext& context, const NodeSelection& nodes);

}  // namespace qtool
