#pragma once

#include "config/json.h"
#include "pipeline/calibrate_report.h"
#include "report/document.h"
#include "report/json_object.h"

namespace qtool {

Document to_document(const CalibrateReport& report);
/// The manifest and what is too fleeting for it: how long each stage took.
JsonValue to_json(const CalibrateReport& report);

/// What the manifest and the JSON report of `calibrate` share.
void add_calibrate_members(JsonObject& object, const CalibrateReport& report);

}  // namespace qtool
