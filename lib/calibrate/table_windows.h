#pragma once

#include <map>
#include <string>

#include "calibrate/conv_window.h"
#include "calibrate/second_moments.h"
#include "calibrate/statistics.h"

namespace qtool {

class ChannelSumsProto;

void encode_windows(const std::map<ConvWindow, SecondMoments>& windows, ChannelSumsProto& out);

/// The second moments of Convs that the message holds of a tensor with these statistics. `Input`
/// error, which begins with `where`, for what could not have been recorded.
std::map<ConvWindow, SecondMoments> decode_windows(const ChannelSumsProto& message,
                                                   const TensorStatistics& statistics,
                                                   const std::string& where);

}  // namespace qtool
