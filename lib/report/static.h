#pragma once

#include "config/json.h"
#include "pipeline/static_report.h"
#include "report/document.h"

namespace qtool {

Document to_document(const StaticReport& report);
/// The manifest and what is too long or too fleeting for it: every quantized tensor, what each pass
/// and stage did and how long it took.
JsonValue to_json(const StaticReport& report);

}  // namespace qtool
