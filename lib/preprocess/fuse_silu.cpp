#include <optional>
#include <string>

#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

/// x * sigmoid(alpha * x)
struct Silu {
  int product = -1;  ///< the node that multiplies
  std::string x;
  double alpha = 1;
};

std::optional<Silu> silu_around(const GraphEditor& graph, int sigmoid) {
  if (!graph.is(sigmoid, "Sigmoid")) return std::nullopt;
  const auto use = graph.sole_use(graph.node(sigmoid).output(0));
  if (!use || !graph.is(use->node, "Mul")) return std::nullopt;
  const std::string& x = graph.node(use->node).input(1 - use->slot);
  const std::string& argument = graph.node(sigmoid).input(0);
  const Scaled inner = argument == x ? Scaled{x, 1} : scaled(graph, argument);
  if (inner.value != x || !is_single_or_half(graph, x)) return std::nullopt;
  return Silu{use->node, x, inner.factor};
}

void fuse(GraphEditor& graph, const Silu& silu, bool is_contrib) {
  graph.become(silu.product, is_contrib ? "QuickGelu" : "Swish");
  graph.set_inputs(silu.product, {silu.x});
  auto& node = graph.edit(silu.product);
  set_float(node, "alpha", static_cast<float>(silu.alpha));
  if (is_contrib) node.set_domain("com.microsoft");
  ensure_name(graph, silu.product);
}

}  // namespace

PatternCount count_silu(Model& model) {
  PatternCount out;
  edit_graphs(model, {"Sigmoid"}, [&](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) out.found += silu_around(graph, i) ? 1 : 0;
  });
  return out;
}

bool fuse_silu(Model& model, Operators which) {
  const bool is_contrib = model.opset() != kSwishOpset;
  if (is_contrib && which != Operators::Contrib) return false;
  const bool changed = edit_graphs(model, {"Sigmoid"}, [&](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (const auto found = silu_around(graph, i)) fuse(graph, *found, is_contrib);
    }
  });
  if (changed && is_contrib) import_contrib(model);
  return changed;
}

}  // namespace qtool
