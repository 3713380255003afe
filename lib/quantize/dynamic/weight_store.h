#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "config/config.h"
#include "model/model.h"
#include "quantize/dynamic/plan.h"
#include "quantize/dynamic/scopes.h"
#include "quantize/params.h"
#include "quantize/tensor_overrides.h"

namespace qtool {

/// How nodes read a weight.
struct WeightSpec {
  std::string stem;              ///< empty: the initializer's name
  QuantScheme scheme;            ///< its value type is that of the scale
  std::string override_name;     ///< whose entry in TensorQuantOverrides counts; empty: its own
  bool swaps_last_axes = false;  ///< the integers are stored so
  /// Axes of the initializer that have a scale each: none, one, or a row of several.
  std::int64_t first_channel_axis = 0;
  std::int64_t channel_axis_count = 0;
  /// Stored shape of scale and zero point, where it is not that of the channel axes.
  std::optional<std::vector<std::int64_t>> params_shape = {};
  bool has_one_zero_point = false;
  float factor = 1;  ///< scales are stored times it (alpha of Gemm)
};

/// The stored integers of a weight that a model holds in one of its files.
std::vector<std::byte> make_integers(const Model& model, const StoredWeight& weight);

/// Decides the 8-bit forms of weights, one tensor at a time. Those that lie in a file are read for
/// their scales, and their integers made when they are written.
class WeightStore {
 public:
  WeightStore(const Model& model, const QuantizationConfig& config)
      : model_(model), overrides_(config.extra_options) {}

  /// The index of the weight in that form; -1 where a value is NaN or infinite.
  int add(const GraphScopes::Constant& constant, const WeightSpec& spec);

  const TensorOverride* override_of(const std::string& tensor) const {
    return overrides_.find(tensor);
  }
  StoredWeight& at(int index) { return weights_[static_cast<std::size_t>(index)]; }
  const StoredWeight& at(int index) const { return weights_[static_cast<std::size_t>(index)]; }
  std::vector<StoredWeight> take() { return std::move(weights_); }

 private:
  using Key = std::tuple<int, std::string, std::string, bool, std::int64_t, std::int64_t,
                         ElementType, bool, ElementType, float>;

  int make(const GraphScopes::Constant& constant, const WeightSpec& spec);
  void release_pages(std::size_t bytes);

  const Model& model_;
  TensorOverrides overrides_;
  std::vector<StoredWeight> weights_;
  std::map<Key, int> known_;
  std::size_t read_bytes_ = 0;
};

}  // namespace qtool
