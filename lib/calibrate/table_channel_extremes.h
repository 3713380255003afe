#pragma once

#include <string>

#include "calibrate/channel_extremes.h"
#include "calibrate/statistics.h"

namespace qtool {

class ChannelExtremesProto;

void encode_channel_extremes(const ChannelExtremes& extremes, ChannelExtremesProto& out);

/// The extremes that the message holds. `Input` error, which begins with `where`, for what could
/// not have been recorded of a tensor with these statistics.
ChannelExtremes decode_channel_extremes(const ChannelExtremesProto& message,
                                        const TensorStatistics& statistics,
                                        const std::string& where);

}  // namespace qtool
