#pragma once

#include "config/json.h"
#include "pipeline/float16_report.h"
#include "report/document.h"
#include "report/json_object.h"

namespace qtool {

Document to_document(const Float16Report& report);
/// The manifest and what is too fleeting for it: how long each stage took.
JsonValue to_json(const Float16Report& report);
/// What the manifest and the JSON report of `float16` share.
void add_float16_members(JsonObject& object, const Float16Report& report);

}  // namespace qtool
