#pragma once

#include "config/json.h"
#include "pipeline/table_report.h"
#include "report/document.h"

namespace qtool {

/// A calibration table: what it was recorded of, and its tensors.
Document to_document(const TableReport& report);
JsonValue to_json(const TableReport& report);

}  // namespace qtool
