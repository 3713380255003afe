#include "pipeline/channel_options.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "model/messages.h"
#include "quantize/measurable.h"

namespace qtool {
namespace {

constexpr const char* kDiagonal =
    "--second-moments diagonal takes every tensor; --op-types-to-quantize records some operators "
    "only";

Error refusal(const std::string& what) {
  return Error(ErrorKind::Usage, "--second-moments full: " + what, kDiagonal);
}

void check_full(const ChannelInput& input) {
  if (input.has_window) {
    throw refusal(
        input.node +
        ": its rows are windows, groups or strides, expected a MatMul, a Gemm or a Conv of "
        "single positions");
  }
  if (input.channel_count <= kMaxFullChannels) return;
  throw refusal(fmt::format("tensor {}: {} channels take {}, expected at most {} channels",
                            in_quotes(input.name), input.channel_count,
                            format_bytes(moment_bytes(MomentsKind::Full, input.channel_count)),
                            kMaxFullChannels));
}

}  // namespace

void check_moments(std::span<const ChannelInput> inputs, MomentsKind kind) {
  if (kind == MomentsKind::Diagonal) return;
  std::set<std::string_view> seen;
  std::uint64_t bytes = 0;
  const ChannelInput* largest = nullptr;
  for (const ChannelInput& input : inputs) {
    check_full(input);
    if (!seen.insert(input.name).second) continue;
    bytes += moment_bytes(kind, input.channel_count);
    if (largest == nullptr || input.channel_count > largest->channel_count) largest = &input;
  }
  if (bytes <= kMaxMomentBytes) return;
  throw refusal(fmt::format(
      "{} tensors take {}, expected at most {} in all; the largest is {} with "
      "{}",
      seen.size(), format_bytes(bytes), format_bytes(kMaxMomentBytes), in_quotes(largest->name),
      format_bytes(moment_bytes(kind, largest->channel_count))));
}

std::vector<AveragedTensor> channels_to_record(const Model& model, const QuantizationConfig& config,
                                               const ChannelOptions& options) {
  std::vector<AveragedTensor> out;
  std::set<std::string> seen;
  const auto add = [&](const std::string& name, std::int64_t axis) {
    if (seen.insert(name).second) out.push_back({name, axis});
  };
  for (const auto& tensor : averageable_tensors(model, config)) add(tensor.name, tensor.axis);
  if (!options.maxima && !options.moments) return out;
  const auto inputs = channel_inputs(model, config);
  if (options.moments) check_moments(inputs, *options.moments);
  for (const ChannelInput& input : inputs) add(input.name, input.axis);
  return out;
}

std::map<std::string, TableChannels> take_channels(CalibrationResult& found,
                                                   std::span<const AveragedTensor> tensors,
                                                   const ChannelOptions& options) {
  std::map<std::string, TableChannels> out;
  for (const AveragedTensor& tensor : tensors) {
    TableChannels& channels = out[tensor.name];
    channels.axis = tensor.axis;
    channels.sums = std::move(found.channel_sums[tensor.name]);
    if (options.maxima) channels.maxima = std::move(found.channel_maxima[tensor.name]);
    if (!options.moments) continue;
    auto moments = found.second_moments.extract(tensor.name);
    channels.moments = moments ? std::move(moments.mapped()) : SecondMoments(*options.moments);
  }
  return out;
}

}  // namespace qtool
