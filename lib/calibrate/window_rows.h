#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/conv_window.h"

namespace qtool {

/// The rows that a Conv multiplies its weights with, of a tensor [N, C, spatial axes]: one for each
/// position of the output, image by image and then in the order of its axes. The values of a row
/// stand as those of a filter of the weight [M, C/group, kernel]: by channel of the group, then in
/// the order of the kernel's axes. What lies in the padding is 0. Rows are made where they are
/// wanted, since all of them together take the kernel's size times the tensor's.
class WindowRows {
 public:
  /// Nothing where a tensor of this shape does not go with the window.
  static std::optional<WindowRows> of(const ConvWindow& window,
                                      std::span<const std::int64_t> shape);

  std::size_t groups() const { return groups_; }
  std::size_t length() const { return channels_ / groups_ * taps_; }  ///< values of a row
  std::size_t count() const { return images_ * positions_; }          ///< rows of each group

  /// Writes rows `first` to `first` + `count` of a group, `stride` values apart; what is between
  /// them is left alone. `values` are the tensor's.
  void copy(std::span<const float> values, std::size_t group, std::size_t first, std::size_t count,
            double* rows, std::size_t stride) const;

 private:
  /// A spatial axis: its sizes, and how the window moves over it.
  struct Axis {
    std::int64_t size = 0, kernel = 0, output = 0;
    std::int64_t stride = 1, dilation = 1, pad = 0;
    /// The value that tap `tap` sees from `position`; outside of 0 to size in the padding.
    std::int64_t value(std::int64_t position, std::int64_t tap) const {
      return position * stride - pad + tap * dilation;
    }
  };
  /// Rows behind each other along the last axis.
  struct Run {
    std::size_t first = 0, count = 0;
  };

  static Axis axis_of(const ConvWindow& window, std::size_t number, std::int64_t size);
  std::vector<std::int64_t> lines_of(std::size_t position) const;
  void copy_run(std::span<const float> values, std::size_t group, Run run, double* rows,
                std::size_t stride) const;

  std::vector<Axis> axes_;
  std::size_t images_ = 0, channels_ = 0, groups_ = 1;
  std::size_t plane_ = 0;      ///< values of a channel
  std::size_t taps_ = 0;       ///< of the kernel
  std::size_t positions_ = 0;  ///< of an image's output
};

}  // namespace qtool
