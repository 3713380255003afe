#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.h"
#include "model/graph_view.h"
#include "quantize/constants.h"

namespace qtool {

/// What `TensorQuantOverrides` says, by tensor. Borrows the options.
class TensorOverrides {
 public:
  explicit TensorOverrides(const ExtraOptions& options)
      : overrides_(options.tensor_quant_overrides) {}

  /// What holds for the whole tensor; for one with an override per channel, what its first says,
  /// with which the others agree in type, axis and symmetry. nullptr where nothing does.
  const TensorOverride* find(const std::string& tensor) const;
  /// One per channel, or one for all; empty where there is none.
  const std::vector<TensorOverride>& channels(const std::string& tensor) const;

  /// Overridden, with one scale for the tensor, also where the override says nothing else.
  bool is_per_tensor(const std::string& tensor) const;
  bool is_per_channel(const std::string& tensor) const;

 private:
  const std::map<std::string, std::vector<TensorOverride>>& overrides_;
};

/// Refuses overrides that do not fit the model: a `Usage` error naming the tensor where it is not
/// in the model, an activation is given what only constants have or the reverse, the axis or the
/// number of channels is wrong, or `convert` changes no type.
void check_tensor_overrides(const GraphView& graph, const QuantizationConfig& config);

/// Whether the node `reader` gets the converted tensor.
bool receives_conversion(const ConvertOverride& conversion, const onnx::NodeProto& reader);

/// What they give a constant instead of what its values say.
GivenParams given_params(const std::vector<TensorOverride>& channels);

/// Every type that quantization may give a tensor under this config.
std::vector<QuantType> wanted_types(const QuantizationConfig& config);

}  // namespace qtool
