#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/element_type.h"

namespace qtool {

/// A constant and what ONNX Runtime makes of it; hashes stand for the stored bytes.
struct PeerConstant {
  std::string kind;  ///< of peer_values
  std::uint64_t seed;
  std::vector<std::int64_t> shape;
  int exponent;  ///< the values are times 2 to this
  ElementType value_type, type;
  bool is_symmetric, is_reduced;
  std::optional<double> minimum_real_range;
  std::int64_t axis;  ///< -1: none
  std::int64_t block_size;
  std::optional<double> rmin, rmax;
  float first_scale;
  std::uint64_t scales, zero_points, data;
};

/// A range of an activation.
struct PeerRange {
  float min, max;
  ElementType value_type, type;
  bool is_symmetric, is_restricted;
  std::optional<double> minimum_real_range;
  float scale;
  std::int32_t zero_point;
};

/// A bias between an input and a weight of these scales.
struct PeerBias {
  ElementType value_type;
  std::vector<float> values;
  float input_scale;
  std::vector<float> weight_scales;
  float beta;
  std::vector<double> adjusted_weight_scales;
  bool has_scales_of_its_type;
  std::vector<float> scales;
  std::uint64_t data;
};

}  // namespace qtool
