#include <string>

#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

void fuse(GraphEditor& graph, int index, bool is_contrib) {
  const auto use = graph.sole_use(graph.node(index).output(0));
  if (!use || !graph.is(use->node, "Mul")) return;
  const std::string x = graph.node(use->node).input(1 - use->slot);
  const std::string& argument = graph.node(index).input(0);
  const Scaled inner = argument == x ? Scaled{x, 1} : scaled(graph, argument);
  if (inner.value != x || !is_single_or_half(graph, x)) return;
  graph.become(use->node, is_contrib ? "QuickGelu" : "Swish");
  graph.set_inputs(use->node, {x});
  auto& node = graph.edit(use->node);
  set_float(node, "alpha", static_cast<float>(inner.factor));
  if (is_contrib) node.set_domain("com.microsoft");
  ensure_name(graph, use->node);
}

}  // namespace

bool fuse_silu(Model& model, Operators which) {
  const bool is_contrib = model.opset() < 24;
  if (is_contrib && which != Operators::Contrib) return false;
  const bool changed = edit_graphs(model, {"Sigmoid"}, [&](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is(i, "Sigmoid")) fuse(graph, i, is_contrib);
    }
  });
  if (changed && is_contrib) import_contrib(model);
  return changed;
}

}  // namespace qtool
