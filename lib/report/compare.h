#pragma once

#include "config/json.h"
#include "pipeline/compare_report.h"
#include "report/document.h"

namespace qtool {

Document to_document(const CompareReport& report);
JsonValue to_json(const CompareReport& report);

}  // namespace qtool
