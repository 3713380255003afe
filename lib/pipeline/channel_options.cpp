#include "pipeline/channel_options.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "model/messages.h"
#include "quantize/channel_input.h"
#include "quantize/measurable.h"

namespace qtool {
namespace {

Error refusal(const std::string& what) {
  return Error(ErrorKind::Usage, "--second-moments full: " + what,
               "--second-moments diagonal takes every tensor; --op-types-to-quantize records some "
               "operators only");
}

/// Full moments of what one node sees, and how much room they take.
struct Matrices {
  std::string owner;  ///< as messages call it: a tensor, or a Conv with a window
  std::string unit;   ///< of the length
  std::uint64_t length = 0;
  std::uint64_t bytes = 0;
};

/// Refuses what is too large by itself.
Matrices matrices_of(const ChannelInput& input) {
  constexpr std::uint64_t kCountable = std::uint64_t{1} << 30;
  Matrices out{"tensor " + in_quotes(input.name), "channels", input.channel_count};
  if (input.window) {
    out.owner = input.node;
    out.unit = "values a row";
    out.length = row_length(*input.window, input.channel_count).value_or(kCountable);
  }
  out.bytes = moment_bytes(MomentsKind::Full, std::min(out.length, kCountable));
  if (out.length > kMaxFullChannels) {
    throw refusal(fmt::format("{}: {} {} take {}, expected at most {} {}", out.owner, out.length,
                              out.unit, format_bytes(out.bytes), kMaxFullChannels, out.unit));
  }
  if (input.window) out.bytes *= static_cast<std::uint64_t>(input.window->group);
  return out;
}

/// Refuses what is too large together.
void check_room(std::span<const Matrices> all) {
  constexpr std::uint64_t kUnheard = std::uint64_t{1} << 40;
  std::uint64_t bytes = 0;
  for (const Matrices& each : all) bytes += std::min(each.bytes, kUnheard);
  if (bytes <= kMaxMomentBytes) return;
  const Matrices& largest = *std::ranges::max_element(all, {}, &Matrices::bytes);
  throw refusal(
      fmt::format("matrices take {}, expected at most {} in all; the largest is that of "
                  "{} with {}",
                  format_bytes(bytes), format_bytes(kMaxMomentBytes), largest.owner,
                  format_bytes(largest.bytes)));
}

/// One for each rows that differ.
std::vector<MomentsRequest> full_moments(std::span<const ChannelInput> inputs,
                                         const std::map<std::string, std::int64_t>& axes) {
  std::vector<MomentsRequest> out;
  std::vector<Matrices> all;
  std::set<std::pair<std::string, std::optional<ConvWindow>>> seen;
  for (const ChannelInput& input : inputs) {
    if (!input.window && input.axis != axes.at(input.name)) continue;
    if (!seen.emplace(input.name, input.window).second) continue;
    all.push_back(matrices_of(input));
    out.push_back({input.name, MomentsKind::Full, input.axis, input.window});
  }
  check_room(all);
  return out;
}

}  // namespace

ChannelWork channels_to_record(const Model& model, const QuantizationConfig& config,
                               const ChannelOptions& options) {
  ChannelWork out;
  out.maxima = options.maxima;
  std::map<std::string, std::int64_t> axes;
  const auto add = [&](const std::string& name, std::int64_t axis) {
    if (axes.emplace(name, axis).second) out.tensors.push_back({name, axis});
  };
  for (const auto& tensor : averageable_tensors(model, config)) add(tensor.name, tensor.axis);
  if (!options.maxima && !options.moments) return out;
  const auto inputs = channel_inputs(model, config);
  for (const ChannelInput& input : inputs) add(input.name, input.axis);
  if (options.moments == MomentsKind::Full) out.moments = full_moments(inputs, axes);
  if (options.moments == MomentsKind::Diagonal) {
    for (const AveragedTensor& tensor : out.tensors)
      out.moments.push_back({tensor.name, MomentsKind::Diagonal, tensor.axis});
  }
  return out;
}

std::map<std::string, TableChannels> take_channels(CalibrationResult& found,
                                                   const ChannelWork& work) {
  std::map<std::string, TableChannels> out;
  for (const AveragedTensor& tensor : work.tensors) {
    TableChannels& channels = out[tensor.name];
    channels.axis = tensor.axis;
    channels.sums = std::move(found.channel_sums[tensor.name]);
    if (work.maxima) channels.maxima = std::move(found.channel_maxima[tensor.name]);
  }
  for (std::size_t i = 0; i < work.moments.size(); ++i) {
    const MomentsRequest& request = work.moments[i];
    TableChannels& channels = out.at(request.name);
    const bool is_there = i < found.second_moments.size();
    SecondMoments moments = is_there ? std::move(found.second_moments[i]) : no_moments(request);
    if (request.window)
      channels.windows.emplace(*request.window, std::move(moments));
    else
      channels.moments = std::move(moments);
  }
  return out;
}

}  // namespace qtool
