#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace qtool {

class Model;

/// A float value at the edge of a region.
struct RegionValue {
  std::string name;   ///< in the model that was quantized
  std::string value;  ///< what stands for it in the quantized model
  friend bool operator==(const RegionValue&, const RegionValue&) = default;
};

/// Nodes with integer kernels that hand integers to each other, and what lies between them and the
/// float nodes around.
struct IntegerRegion {
  std::string first, last;  ///< names of its nodes, or of their outputs where they have none
  std::size_t node_count = 0;
  std::vector<RegionValue> inputs;   ///< that float nodes and the graph's inputs give, quantized
  std::vector<RegionValue> outputs;  ///< that float nodes and the graph's outputs read
};

/// The regions of the main graph of a quantized model, as ONNX Runtime will run it, in the order of
/// their first nodes.
std::vector<IntegerRegion> integer_regions(const Model& model);

}  // namespace qtool
