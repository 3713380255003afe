#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "pipeline/static_report.h"
#include "report/document.h"
#include "report/json_object.h"

namespace qtool {

/// The integer regions with the least SQNR behind them, `limit` at most, the worst first. Nothing
/// where none was measured.
std::vector<Section> region_sections(std::span<const RegionAccuracy> regions, std::size_t limit);

/// All regions, in graph order.
JsonValue to_json(std::span<const RegionAccuracy> regions);

}  // namespace qtool
