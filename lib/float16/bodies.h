#pragma once

#include <vector>

#include "float16/model_index.h"

namespace qtool {

/// Places around and inside a node with bodies that hold one value between them, as the carried
/// value of a Loop: they must have one type.
struct BodyLink {
  int input = -1, output = -1;  ///< slots of the node; -1: none
  struct Place {
    int graph = 0;
    int index = 0;
  };
  std::vector<Place> body_inputs{}, body_outputs{};
};

/// Whether the node is an If, Loop or Scan: operators that hand values to their bodies unchanged.
bool has_linked_bodies(const IndexedNode& node);

/// How the bodies of such a node hang together with it.
std::vector<BodyLink> body_links(const ModelIndex& index, const IndexedNode& node);

}  // namespace qtool
