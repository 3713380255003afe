#pragma once

#include <vector>

#include "inspect/kernel_forecast.h"
#include "report/document.h"
#include "report/json_object.h"

namespace qtool {

/// `62 QLinearConv, 41 QLinearAdd; 12 nodes in float`; empty where no node has an integer kernel.
std::string kernels_text(const KernelForecast& forecast);

/// Of the nodes that compute floats though there is an integer kernel, how many and why; the
/// `limit` most frequent reasons. Nothing where no node is such.
std::vector<Section> kernel_sections(const KernelForecast& forecast, std::size_t limit);

JsonValue to_json(const KernelForecast& forecast);

/// One entry per node that has an integer kernel, in graph order: its kernel, or why it has floats.
JsonValue kernel_nodes_json(const KernelForecast& forecast);

}  // namespace qtool
