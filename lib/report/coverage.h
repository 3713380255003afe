#pragma once

#include "config/json.h"
#include "pipeline/coverage_report.h"
#include "report/document.h"

namespace qtool {

/// A summary, the gates, each scenario's worst tensors, and the worst of all; in HTML every tensor.
Document to_document(const CoverageReport& report);
JsonValue to_json(const CoverageReport& report);

}  // namespace qtool
