#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/element_type.h"
#include "model/model.h"
#include "model/tensor.h"

namespace qtool {

/// The nodes of one operator, in all graphs of a model.
struct OperatorUse {
  std::string domain;  ///< empty: ONNX's own
  std::string op_type;
  std::size_t node_count = 0;
  std::uint64_t weight_elements = 0;  ///< of the weights that these nodes are the first to read
  std::uint64_t weight_bytes = 0;
};

/// The weights of one element type.
struct TypeUse {
  ElementType type = ElementType::Undefined;
  std::size_t tensor_count = 0;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
};

struct OpsetVersion {
  std::string domain;  ///< empty: ONNX's own
  std::int64_t version = 0;
};

/// What a model holds, as it stands in its file. Weights are initializers and the tensors of
/// Constant nodes.
struct ModelSummary {
  std::int64_t ir_version = 0;
  std::string producer_name, producer_version;
  std::string graph_name;
  std::vector<OpsetVersion> opsets;  ///< sorted by domain
  std::vector<TensorInfo> inputs;    ///< that a run must be given
  std::vector<TensorInfo> outputs;
  std::vector<OperatorUse> operators;  ///< most frequent first, then by name
  std::vector<TypeUse> weights;        ///< by type
  std::size_t node_count = 0;          ///< subgraphs included
  std::size_t subgraph_count = 0;
  std::size_t function_count = 0;  ///< functions defined in the model; their bodies are not counted
  std::uint64_t weight_elements = 0;
  std::uint64_t weight_bytes = 0;
  std::size_t unused_weight_count = 0;  ///< weights that nothing reads
};

ModelSummary summarize(const Model& model);

}  // namespace qtool
