#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "preprocess/graph_editor.h"

namespace qtool {

/// The channels of a value: `count` of them along the axis that has `axes_behind` axes behind it.
struct Channels {
  std::int64_t count = 0;
  int rank = 0;  ///< the axes that the value has at least
  int axes_behind = 0;
};

/// What is done to each channel: y = x * factor + offset.
struct Affine {
  std::vector<double> factor;
  std::vector<double> offset;

  bool has_factor() const;
  bool has_offset() const;
  /// What this does behind `first`.
  Affine after(const Affine& first) const;
};

/// What a node does to the value of its input `slot`, where that is the same for all of a channel
/// and constant: BatchNormalization for inference, Mul, Div, Add and Sub.
std::optional<Affine> affine_of(const GraphEditor& graph, int index, int slot,
                                const Channels& channels);

/// `values` as a tensor of `type`; nothing where one of them is no number of that type.
std::optional<onnx::TensorProto> encoded(ElementType type, const std::vector<std::int64_t>& shape,
                                         const std::vector<double>& values);

}  // namespace qtool
