#pragma once

#include <string>

#include "calibrate/statistics.h"
#include "calibrate/table.h"

namespace qtool {

class ChannelSumsProto;

void encode_channels(const TableChannels& channels, ChannelSumsProto& out);

/// The sums that the message holds. `Input` error, which begins with `where`, for what could not
/// have been recorded of a tensor with these statistics.
TableChannels decode_channels(const ChannelSumsProto& message, const TensorStatistics& statistics,
                              const std::string& where);

}  // namespace qtool
