#include "float16/bodies.h"

namespace qtool {
namespace {

int count(const std::vector<int>& list) { return static_cast<int>(list.size()); }

std::vector<BodyLink> links_of_if(const IndexedNode& node) {
  std::vector<BodyLink> links;
  for (int i = 0; i < count(node.outputs); ++i) {
    BodyLink link{.output = i};
    for (const int body : node.bodies) link.body_outputs.push_back({body, i});
    links.push_back(std::move(link));
  }
  return links;
}

/// Inputs: trip count, condition, carried values; outputs: carried values, then one that grows with
/// each turn. The body has a condition for its first output.
std::vector<BodyLink> links_of_loop(const IndexedNode& node) {
  std::vector<BodyLink> links;
  const int body = node.bodies[0];
  const int carried = count(node.inputs) - 2;
  for (int i = 0; i < count(node.outputs) || i < carried; ++i) {
    BodyLink link;
    if (i < count(node.outputs)) link.output = i;
    if (i < carried) {
      link.input = i + 2;
      link.body_inputs.push_back({body, i + 2});
    }
    link.body_outputs.push_back({body, i + 1});
    links.push_back(std::move(link));
  }
  return links;
}

/// Inputs: state, then what is scanned; before opset 9 lengths come first.
std::vector<BodyLink> links_of_scan(const ModelIndex& index, const IndexedNode& node) {
  std::vector<BodyLink> links;
  const int body = node.bodies[0];
  const int first = index.model().opset() < 9 ? 1 : 0;
  const int scanned = static_cast<int>(int_attribute(*node.proto, "num_scan_inputs", 0));
  const int inputs = count(node.inputs) - first;
  const int states = inputs - scanned;
  for (int i = 0; i < inputs; ++i) {
    BodyLink link{.input = i + first, .body_inputs = {{body, i}}};
    if (i < states) {
      if (i < count(node.outputs)) link.output = i;
      link.body_outputs.push_back({body, i});
    }
    links.push_back(std::move(link));
  }
  for (int i = states; i < count(node.outputs); ++i)
    links.push_back({.output = i, .body_outputs = {{body, i}}});
  return links;
}

}  // namespace

bool has_linked_bodies(const IndexedNode& node) {
  return (node.is("If") && node.bodies.size() == 2) ||
         ((node.is("Loop") || node.is("Scan")) && node.bodies.size() == 1);
}

std::vector<BodyLink> body_links(const ModelIndex& index, const IndexedNode& node) {
  if (node.is("If")) return links_of_if(node);
  return node.is("Loop") ? links_of_loop(node) : links_of_scan(index, node);
}

}  // namespace qtool
