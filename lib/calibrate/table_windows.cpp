#include "calibrate/table_windows.h"

#include <fmt/format.h>
#include <utility>

#include "base/error.h"
#include "calibrate/table.pb.h"
#include "calibrate/table_moments.h"

namespace qtool {
namespace {

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::Input, where + ": windows " + what);
}

AutoPadProto encode(AutoPad auto_pad) {
  switch (auto_pad) {
    case AutoPad::SameUpper:
      return AUTO_PAD_SAME_UPPER;
    case AutoPad::SameLower:
      return AUTO_PAD_SAME_LOWER;
    case AutoPad::None:
      break;
  }
  return AUTO_PAD_NONE;
}

AutoPad decode(AutoPadProto auto_pad, const std::string& where) {
  switch (auto_pad) {
    case AUTO_PAD_NONE:
      return AutoPad::None;
    case AUTO_PAD_SAME_UPPER:
      return AutoPad::SameUpper;
    case AUTO_PAD_SAME_LOWER:
      return AutoPad::SameLower;
    default:
      refuse(where, fmt::format("have auto_pad {}, expected 0 to 2", static_cast<int>(auto_pad)));
  }
}

ConvWindow decode_window(const WindowMomentsProto& message, const std::string& where) {
  const ConvWindow out{.kernel = {message.kernel().begin(), message.kernel().end()},
                       .strides = {message.strides().begin(), message.strides().end()},
                       .dilations = {message.dilations().begin(), message.dilations().end()},
                       .pads = {message.pads().begin(), message.pads().end()},
                       .auto_pad = decode(message.auto_pad(), where),
                       .group = message.group()};
  if (!out.is_possible()) refuse(where, "have attributes that no Conv has");
  return out;
}

/// The length of its rows is that of the tensor's channels, or there are none.
void check_length(const WindowMomentsProto& message, const ConvWindow& window,
                  const ChannelSumsProto& channels, const std::string& where) {
  if (message.row_length() == 0 || channels.is_ragged()) return;
  const auto expected = row_length(window, static_cast<std::uint64_t>(channels.high_size()));
  if (expected == message.row_length()) return;
  refuse(where, fmt::format("have rows of {}, expected {}", message.row_length(),
                            expected ? std::to_string(*expected) : "none"));
}

}  // namespace

void encode_windows(const std::map<ConvWindow, SecondMoments>& windows, ChannelSumsProto& out) {
  for (const auto& [window, moments] : windows) {
    WindowMomentsProto& message = *out.add_windows();
    for (const auto size : window.kernel) message.add_kernel(static_cast<std::uint32_t>(size));
    for (const auto step : window.strides) message.add_strides(static_cast<std::uint32_t>(step));
    for (const auto step : window.dilations)
      message.add_dilations(static_cast<std::uint32_t>(step));
    for (const auto pad : window.pads) message.add_pads(static_cast<std::int32_t>(pad));
    message.set_auto_pad(encode(window.auto_pad));
    message.set_group(static_cast<std::uint32_t>(window.group));
    message.set_row_length(moments.row_length());
    message.set_is_ragged(moments.is_ragged());
    encode_moments(moments, *message.mutable_moments());
  }
}

std::map<ConvWindow, SecondMoments> decode_windows(const ChannelSumsProto& message,
                                                   const TensorStatistics& statistics,
                                                   const std::string& where) {
  std::map<ConvWindow, SecondMoments> out;
  for (const WindowMomentsProto& of_window : message.windows()) {
    ConvWindow window = decode_window(of_window, where);
    if (!out.empty() && window <= out.rbegin()->first)
      refuse(where, "are not in order, expected ascending ones");
    check_length(of_window, window, message, where);
    if (!of_window.moments().is_full()) refuse(where, "have a diagonal, expected full moments");
    const MomentsForm form{.length = of_window.row_length(),
                           .matrix_count = of_window.group(),
                           .is_ragged = of_window.is_ragged(),
                           .has_windows = true};
    out.emplace(std::move(window), decode_moments(of_window.moments(), form, statistics, where));
  }
  return out;
}

}  // namespace qtool
