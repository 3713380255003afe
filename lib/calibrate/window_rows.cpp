#include "calibrate/window_rows.h"

#include <algorithm>

#include "base/checked.h"

namespace qtool {
namespace {

constexpr std::int64_t kOutside = -1;

/// What SAME_UPPER and SAME_LOWER add to an axis, in front and behind together.
std::int64_t same_padding(std::int64_t size, std::int64_t reach, std::int64_t stride) {
  const std::int64_t output = (size + stride - 1) / stride;
  return std::max<std::int64_t>((output - 1) * stride + reach - size, 0);
}

}  // namespace

WindowRows::Axis WindowRows::axis_of(const ConvWindow& window, std::size_t number,
                                     std::int64_t size) {
  Axis out{.size = size,
           .kernel = window.kernel[number],
           .stride = window.strides[number],
           .dilation = window.dilations[number]};
  const std::int64_t reach = (out.kernel - 1) * out.dilation + 1;
  std::int64_t padding = 0;
  if (window.auto_pad == AutoPad::None) {
    out.pad = window.pads[number];
    padding = out.pad + window.pads[number + window.kernel.size()];
  } else {
    padding = same_padding(size, reach, out.stride);
    out.pad = window.auto_pad == AutoPad::SameUpper ? padding / 2 : (padding + 1) / 2;
  }
  const std::int64_t room = size + padding - reach;
  out.output = room < 0 ? 0 : room / out.stride + 1;
  return out;
}

std::optional<WindowRows> WindowRows::of(const ConvWindow& window,
                                         std::span<const std::int64_t> shape) {
  if (!window.is_possible() || shape.size() != window.kernel.size() + 2) return std::nullopt;
  const auto length = row_length(window, static_cast<std::uint64_t>(shape[1]));
  if (!length || *length == 0) return std::nullopt;
  WindowRows out;
  std::vector<std::int64_t> counts = {shape[0]};
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    out.axes_.push_back(axis_of(window, i, shape[i + 2]));
    counts.push_back(out.axes_.back().output);
  }
  const auto count = checked_element_count(counts);
  const auto plane = checked_element_count(shape.subspan(2));
  if (!count || !plane) return std::nullopt;
  out.images_ = static_cast<std::size_t>(shape[0]);
  out.channels_ = static_cast<std::size_t>(shape[1]);
  out.groups_ = static_cast<std::size_t>(window.group);
  out.plane_ = static_cast<std::size_t>(*plane);
  out.taps_ = static_cast<std::size_t>(*length) / (out.channels_ / out.groups_);
  out.positions_ = out.images_ == 0 ? 0 : static_cast<std::size_t>(*count) / out.images_;
  return out;
}

/// Where the lines that the window sees from an output position begin in a channel, in the order of
/// the kernel's axes but the last; kOutside in the padding.
std::vector<std::int64_t> WindowRows::lines_of(std::size_t position) const {
  std::vector<std::int64_t> out = {0};
  std::vector<std::int64_t> at(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    at[i] = static_cast<std::int64_t>(position) % axes_[i].output;
    position /= static_cast<std::size_t>(axes_[i].output);
  }
  for (std::size_t i = 0; i + 1 < axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    std::vector<std::int64_t> finer;
    for (const std::int64_t line : out) {
      for (std::int64_t tap = 0; tap < axis.kernel; ++tap) {
        const std::int64_t value = axis.value(at[i], tap);
        const bool is_inside = line != kOutside && value >= 0 && value < axis.size;
        finer.push_back(is_inside ? (line + value) * axes_[i + 1].size : kOutside);
      }
    }
    out = std::move(finer);
  }
  return out;
}

void WindowRows::copy_run(std::span<const float> values, std::size_t group, Run run, double* rows,
                          std::size_t stride) const {
  const Axis& axis = axes_.back();
  const auto begin = static_cast<std::int64_t>(run.first) % axis.output;
  const std::vector<std::int64_t> lines = lines_of(run.first % positions_);
  const std::size_t channels = channels_ / groups_;
  const std::size_t first = run.first / positions_ * channels_ + group * channels;
  for (std::size_t channel = first; channel < first + channels; ++channel) {
    const float* const plane = values.data() + channel * plane_;
    for (const std::int64_t line : lines) {
      for (std::int64_t tap = 0; tap < axis.kernel; ++tap, ++rows) {
        for (std::size_t i = 0; i < run.count; ++i) {
          const std::int64_t at = axis.value(begin + static_cast<std::int64_t>(i), tap);
          const bool is_inside = line != kOutside && at >= 0 && at < axis.size;
          rows[i * stride] = is_inside ? static_cast<double>(plane[line + at]) : 0.0;
        }
      }
    }
  }
}

void WindowRows::copy(std::span<const float> values, std::size_t group, std::size_t first,
                      std::size_t count, double* rows, std::size_t stride) const {
  const auto line = static_cast<std::size_t>(axes_.back().output);
  for (std::size_t done = 0; done < count;) {
    const std::size_t at = first + done;
    const Run run{at, std::min(count - done, line - at % line)};
    copy_run(values, group, run, rows + done * stride, stride);
    done += run.count;
  }
}

}  // namespace qtool
