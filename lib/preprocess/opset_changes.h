#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <onnx/onnx_pb.h>

#include "model/graph_view.h"
#include "model/model.h"
#include "preprocess/scoped_map.h"

namespace qtool {

/// A node on its way from one opset to the next, and what its conversion may ask and add.
struct NodeConversion {
  onnx::NodeProto& node;
  onnx::GraphProto& graph;  ///< the node's own; its list of nodes is being rebuilt
  std::int64_t opset;       ///< the one to come
  NameAllocator& names;
  const ScopedMap<const onnx::TypeProto*>& types;
  const ScopedMap<const onnx::TensorProto*>& initializers;
  const ScopedMap<int>& use_counts;
  std::vector<onnx::NodeProto> before{};  ///< nodes to stand before it
  std::vector<onnx::NodeProto> after{};   ///< nodes to stand behind it
};

/// One operator that an opset changed, and how a node of it keeps its meaning there.
struct OpsetChange {
  std::string_view op_type;
  std::int64_t opset;
  void (*convert)(NodeConversion&);
};

/// The newest opset that nodes can be converted to, and the oldest that they can come from.
inline constexpr std::int64_t kNewestOpset = 25;
inline constexpr std::int64_t kOldestOpset = 7;

/// The row for `op_type` at `opset`, or nullptr.
const OpsetChange* find_opset_change(std::string_view op_type, std::int64_t opset);

/// Whether `opset` changed `op_type` only by allowing more, so that nodes stay as they are.
bool is_extension(std::string_view op_type, std::int64_t opset);

}  // namespace qtool
