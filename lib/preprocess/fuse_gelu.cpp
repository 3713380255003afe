#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

constexpr double kSqrtHalf = 0.70710678118654752;
constexpr double kSqrtTwoByPi = 0.79788456080286536;
constexpr double kCubic = 0.044715;

/// What `gate`, which is 1 + erf or 1 + tanh, is multiplied by until it is halved.
struct Product {
  int last = -1;                ///< the node that makes the product
  std::vector<int> nodes = {};  ///< all that multiply
  std::string x;                ///< the factor besides the gate
  double factor = 1;            ///< the numbers in it
};

/// Follows the only readers of `gate` as long as they multiply.
Product product_of(const GraphEditor& graph, std::string value) {
  Product out;
  while (!(is_close(out.factor, 0.5) && !out.x.empty())) {
    const auto use = graph.sole_use(value);
    if (!use || (!graph.is(use->node, "Mul") && !graph.is(use->node, "Div"))) return {};
    const auto number = number_beside(graph, use->node, use->slot);
    if (graph.is(use->node, "Div")) {
      if (use->slot != 0 || !number) return {};
      out.factor /= *number;
    } else if (number) {
      out.factor *= *number;
    } else if (out.x.empty()) {
      out.x = graph.node(use->node).input(1 - use->slot);
    } else {
      return {};
    }
    if (!out.x.empty() && !is_close(out.factor, 0.5)) {
      const Scaled inner = scaled(graph, out.x);
      if (is_close(out.factor * inner.factor, 0.5)) {
        out.x = inner.value;
        out.factor *= inner.factor;
      }
    }
    out.last = use->node;
    out.nodes.push_back(use->node);
    value = graph.node(use->node).output(0);
  }
  return out;
}

bool is_argument(const GraphEditor& graph, const std::string& value, const std::string& x,
                 bool is_tanh) {
  const auto found = polynomial_of(graph, value, x);
  if (!found || (*found)[0] != 0 || (*found)[2] != 0) return false;
  if (!is_tanh) return is_close((*found)[1], kSqrtHalf) && (*found)[3] == 0;
  return is_close((*found)[1], kSqrtTwoByPi) && is_close((*found)[3], kSqrtTwoByPi * kCubic);
}

/// The product that ends the Gelu around the Erf or Tanh at `index`, if there is one.
std::optional<Product> gelu_around(const GraphEditor& graph, int index) {
  const auto use = graph.sole_use(graph.node(index).output(0));
  if (!use || !graph.is(use->node, "Add") || number_beside(graph, use->node, use->slot) != 1.0)
    return std::nullopt;
  Product product = product_of(graph, graph.node(use->node).output(0));
  if (product.last < 0 || !is_single_or_half(graph, product.x) ||
      !is_argument(graph, graph.node(index).input(0), product.x, graph.is(index, "Tanh")))
    return std::nullopt;
  return product;
}

SpelledGelu spelling_of(const GraphEditor& graph, const Product& product) {
  SpelledGelu out{product.x, {}};
  std::unordered_set<std::string> seen{product.x};
  std::vector<int> nodes{product.last};
  while (!nodes.empty()) {
    const int index = nodes.back();
    nodes.pop_back();
    for (const std::string& value : graph.node(index).input()) {
      const int producer = graph.producer(value);
      if (producer < 0 || !seen.insert(value).second) continue;
      out.inside.push_back(value);
      nodes.push_back(producer);
    }
  }
  return out;
}

using Choice = std::function<bool(const SpelledGelu&)>;

void fuse(GraphEditor& graph, int index, bool is_contrib, const Choice& is_wanted) {
  const bool is_tanh = graph.is(index, "Tanh");
  const auto found = gelu_around(graph, index);
  if (!found || (is_wanted && !is_wanted(spelling_of(graph, *found)))) return;
  const Product& product = *found;
  graph.become(product.last, is_contrib && is_tanh ? "FastGelu" : "Gelu");
  graph.set_inputs(product.last, {product.x});
  auto& node = graph.edit(product.last);
  if (is_contrib) {
    node.set_domain("com.microsoft");
  } else if (is_tanh) {
    set_string(node, "approximate", "tanh");
  }
  ensure_name(graph, product.last);
}

}  // namespace

void add_gelu_nodes(const GraphEditor& graph, std::unordered_set<int>& nodes) {
  for (int i = 0; i < graph.node_count(); ++i) {
    if (graph.is_removed(i) || (!graph.is(i, "Erf") && !graph.is(i, "Tanh"))) continue;
    if (const auto product = gelu_around(graph, i))
      nodes.insert(product->nodes.begin(), product->nodes.end());
  }
}

PatternCount count_gelu(Model& model) {
  PatternCount out;
  edit_graphs(model, {"Erf", "Tanh"}, [&](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      const bool is_start = graph.is(i, "Erf") || graph.is(i, "Tanh");
      if (is_start && gelu_around(graph, i)) ++out.found;
    }
  });
  return out;
}

bool fuse_gelu(Model& model, Operators which, const Choice& is_wanted) {
  const bool is_contrib = model.opset() < 20;
  if (is_contrib && which != Operators::Contrib) return false;
  const bool changed = edit_graphs(model, {"Erf", "Tanh"}, [&](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is(i, "Erf") || graph.is(i, "Tanh")) fuse(graph, i, is_contrib, is_wanted);
    }
  });
  if (changed && is_contrib) import_contrib(model);
  return changed;
}

}  // namespace qtool
