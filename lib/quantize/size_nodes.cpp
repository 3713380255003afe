#include "quantize/size_nodes.h"

#include <algorithm>
#include <string_view>

namespace qtool {
namespace {

/// An operator whose inputs from `first` to `last` are sizes.
struct SizeInputs {
  std::string_view op_type;
  int first, last;
};

constexpr SizeInputs kSizeInputs[] = {
    {"ConstantOfShape", 0, 0}, {"Expand", 1, 1}, {"Pad", 1, 1},
    {"Reshape", 1, 1},         {"Resize", 1, 3}, {"Slice", 1, 4},
    {"Split", 1, 1},           {"Tile", 1, 1},   {"TopK", 1, 1},
    {"Upsample", 1, 1},
};

bool is_size_input(const onnx::NodeProto& node, int slot) {
  return node.domain().empty() && std::ranges::any_of(kSizeInputs, [&](const SizeInputs& row) {
           return row.op_type == node.op_type() && row.first <= slot && slot <= row.last;
         });
}

}  // namespace

std::vector<bool> size_nodes(const GraphView& graph) {
  std::vector<bool> found(static_cast<std::size_t>(graph.node_count()));
  const auto takes_size = [&](const Use& use) {
    return found[static_cast<std::size_t>(use.node)] ||
           is_size_input(graph.node(use.node), use.slot);
  };
  // Readers stand behind what they read.
  for (int index = graph.node_count(); index-- > 0;) {
    bool is_read = false;
    bool is_size = true;
    for (const std::string& name : graph.node(index).output()) {
      const auto uses = graph.uses_of(name);
      is_read |= !uses.empty();
      is_size &= !graph.is_graph_output(name) && !graph.is_captured(name) &&
                 std::ranges::all_of(uses, takes_size);
    }
    found[static_cast<std::size_t>(index)] = is_read && is_size;
  }
  return found;
}

}  // namespace qtool
