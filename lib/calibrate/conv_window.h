#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qtool {

/// Where a Conv's padding comes from.
enum class AutoPad {
  None,       ///< from `pads`
  SameUpper,  ///< so that the output has input / stride positions; an odd one behind
  SameLower,  ///< and in front
};

/// ONNX's word for it: `NOTSET`, `SAME_UPPER` or `SAME_LOWER`.
std::string auto_pad_name(AutoPad auto_pad);

/// What a Conv multiplies its weights with at each position of its output: the attributes of the
/// operator, with a number for each spatial axis.
struct ConvWindow {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> dilations;  ///< 1 where the kernel is
  std::vector<std::int64_t> pads;       ///< in front of all axes, then behind; empty with auto_pad
  AutoPad auto_pad = AutoPad::None;
  std::int64_t group = 1;
  auto operator<=>(const ConvWindow&) const = default;

  /// Whether each output position sees all channels of one input position, and each of these once.
  bool is_single_positions() const;
  /// Whether the lists have sizes that fit together, and numbers that a Conv can have: nothing else
  /// says that of a file.
  bool is_possible() const;
};

/// How many values a row has, of the group's channels all that lie in the window; nothing where
/// groups do not divide the channels, or there are too many.
std::optional<std::uint64_t> row_length(const ConvWindow& window, std::uint64_t channels);

}  // namespace qtool
