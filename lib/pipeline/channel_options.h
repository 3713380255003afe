#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

/// The longest rows whose full second moments are recorded, 170 MB: those of a 3 x 3 kernel over
/// 512 channels.
constexpr std::uint64_t kMaxFullChannels = 4608;
/// The most bytes that second moments of all tensors take together.
constexpr std::uint64_t kMaxMomentBytes = 256'000'000;

/// What is to be recorded by channel.
struct ChannelWork {
  std::vector<AveragedTensor> tensors;  ///< each once
  bool maxima = false;                  ///< of each of them
  std::vector<MomentsRequest> moments;  ///< of some of them
};

/// The tensors whose means `static` can make use of, and with one of the options all others that a
/// node reads by channel. Of a tensor that nodes read along several axes the first counts. Full
/// second moments are those of the rows that each node multiplies its weights with: nodes that see
/// the same rows share a matrix. `Usage` error, naming the tensor or the node, for moments that
/// have no room.
ChannelWork channels_to_record(const Model& model, const QuantizationConfig& config,
                               const ChannelOptions& options);

/// What the table is to hold by channel, out of what was recorded; empty ones of tensors of which
/// no sample was run.
std::map<std::string, TableChannels> take_channels(CalibrationResult& found,
                                                   const ChannelWork& work);

}  // namespace qtool
