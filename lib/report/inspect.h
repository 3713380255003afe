#pragma once

#include "config/json.h"
#include "pipeline/inspect_report.h"
#include "report/document.h"

namespace qtool {

/// The explanation of a node where one was asked for, otherwise the whole model.
Document to_document(const InspectReport& report);
JsonValue to_json(const InspectReport& report);

}  // namespace qtool
