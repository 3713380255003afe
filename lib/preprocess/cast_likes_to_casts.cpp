#include <string>

#include "model/attributes.h"
#include "preprocess/graph_editor.h"
#include "preprocess/passes.h"

namespace qtool {

bool cast_likes_to_casts(Model& model) {
  return edit_graphs(model, {"CastLike"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (!graph.is(i, "CastLike") || graph.node(i).input_size() != 2) continue;
      const ElementType type = graph.type(graph.node(i).input(1));
      if (type == ElementType::Undefined) continue;
      graph.set_inputs(i, {graph.node(i).input(0)});
      // What else it says of rounding and saturation, a Cast says alike.
      auto& node = graph.edit(i);
      node.set_op_type("Cast");
      set_int(node, "to", static_cast<std::int64_t>(type));
    }
  });
}

}  // namespace qtool
