#pragma once

#include <span>
#include <string>

#include "calibrate/statistics.h"
#include "calibrate/table.h"

namespace qtool {

class TensorStatisticsProto;

/// Writes what `kind` records of a tensor; the name is left alone.
void encode_statistics(const TensorStatistics& statistics, TensorStatisticsProto& out);

/// The statistics that the message holds. `Input` error, which begins with `where`, for what no run
/// of this `origin` over `samples` could have recorded.
TensorStatistics decode_statistics(const TensorStatisticsProto& message, const TableOrigin& origin,
                                   std::span<const TableSample> samples, const std::string& where);

}  // namespace qtool
