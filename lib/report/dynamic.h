#pragma once

#include "config/json.h"
#include "pipeline/dynamic_report.h"
#include "report/document.h"
#include "report/json_object.h"

namespace qtool {

Document to_document(const DynamicReport& report);
/// The manifest and what is too long or too fleeting for it: every 8-bit weight, what each pass and
/// stage did and how long it took.
JsonValue to_json(const DynamicReport& report);
/// What the manifest and the JSON report of `dynamic` share.
void add_dynamic_members(JsonObject& object, const DynamicReport& report);

}  // namespace qtool
