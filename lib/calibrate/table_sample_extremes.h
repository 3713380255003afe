#pragma once

#include <span>
#include <string>
#include <vector>

#include "calibrate/statistics.h"
#include "calibrate/table.h"

namespace qtool {

class SampleExtremesProto;

void encode_sample_extremes(std::span<const SampleExtremes> extremes, SampleExtremesProto& out);

/// The extremes that the message holds. `Input` error, which begins with `where`, for what could
/// not have been recorded over `samples` of a tensor with these statistics.
std::vector<SampleExtremes> decode_sample_extremes(const SampleExtremesProto& message,
                                                   const TensorStatistics& statistics,
                                                   std::span<const TableSample> samples,
                                                   const std::string& where);

}  // namespace qtool
