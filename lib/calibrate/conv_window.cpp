#include "calibrate/conv_window.h"

#include <algorithm>
#include <limits>
#include <span>

#include "base/checked.h"

namespace qtool {
namespace {

/// No sum and no product of two overflows.
constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int32_t>::max();

bool are_all(std::span<const std::int64_t> numbers, std::int64_t wanted) {
  return std::ranges::all_of(numbers, [&](std::int64_t number) { return number == wanted; });
}

bool lie_in(std::span<const std::int64_t> numbers, std::int64_t least, std::size_t count) {
  const auto lies_in = [&](std::int64_t number) { return number >= least && number <= kMaxNumber; };
  return numbers.size() == count && std::ranges::all_of(numbers, lies_in);
}

}  // namespace

std::string auto_pad_name(AutoPad auto_pad) {
  switch (auto_pad) {
    case AutoPad::SameUpper:
      return "SAME_UPPER";
    case AutoPad::SameLower:
      return "SAME_LOWER";
    case AutoPad::None:
      break;
  }
  return "NOTSET";
}

bool ConvWindow::is_single_positions() const {
  return group == 1 && are_all(kernel, 1) && are_all(strides, 1) && are_all(pads, 0);
}

bool ConvWindow::is_possible() const {
  const std::size_t axes = kernel.size();
  const bool has_pads = auto_pad == AutoPad::None;
  return axes > 0 && lie_in(kernel, 1, axes) && lie_in(strides, 1, axes) &&
         lie_in(dilations, 1, axes) && lie_in(pads, -kMaxNumber, has_pads ? 2 * axes : 0) &&
         group >= 1 && group <= kMaxNumber;
}

std::optional<std::uint64_t> row_length(const ConvWindow& window, std::uint64_t channels) {
  const auto groups = static_cast<std::uint64_t>(window.group);
  if (groups == 0 || channels % groups != 0) return std::nullopt;
  std::optional<std::uint64_t> out = channels / groups;
  for (const std::int64_t size : window.kernel) {
    if (out) out = checked_mul(*out, static_cast<std::uint64_t>(size));
  }
  return out;
}

}  // namespace qtool
