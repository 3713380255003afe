#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "calibrate/calibrate.h"
#include "calibrate/ranges.h"
#include "calibrate/second_moments.h"
#include "calibrate/table.h"
#include "config/config.h"
#include "model/model.h"
#include "quantize/channel_input.h"

namespace qtool {

/// What is recorded by channel on demand, of the inputs of Conv, Gemm and MatMul.
struct ChannelOptions {
  bool maxima = false;  ///< largest magnitudes and means: `--per-channel-statistics`
  std::optional<MomentsKind> moments = {};  ///< `--second-moments`
};

/// The most channels of a tensor whose full second moments are recorded: 134 MB.
constexpr std::uint64_t kMaxFullChannels = 4096;
/// The most bytes that second moments of all tensors take together.
constexpr std::uint64_t kMaxMomentBytes = 256'000'000;

/// The tensors that are recorded by channel, each once: those whose means `static` can make use of,
/// and with one of the options all others that a node reads by channel. Of a tensor that nodes read
/// along several axes the first counts.
std::vector<AveragedTensor> channels_to_record(const Model& model, const QuantizationConfig& config,
                                               const ChannelOptions& options);

/// What the table is to hold by channel, out of what was recorded; empty ones of tensors of which
/// no sample was run.
std::map<std::string, TableChannels> take_channels(CalibrationResult& found,
                                                   std::span<const AveragedTensor> tensors,
                                                   const ChannelOptions& options);

/// Refuses second moments that have no meaning or no room: `Usage` error that names the node or the
/// tensor.
void check_moments(std::span<const ChannelInput> inputs, MomentsKind kind);

}  // namespace qtool
