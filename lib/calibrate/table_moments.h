#pragma once

#include <string>

#include "calibrate/second_moments.h"
#include "calibrate/statistics.h"

namespace qtool {

class SecondMomentsProto;

void encode_moments(const SecondMoments& moments, SecondMomentsProto& out);

/// The moments that the message holds of a tensor with these statistics and that many channels.
/// `Input` error, which begins with `where`, for what could not have been recorded.
SecondMoments decode_moments(const SecondMomentsProto& message, std::uint64_t channel_count,
                             bool is_ragged, const TensorStatistics& statistics,
                             const std::string& where);

}  // namespace qtool
