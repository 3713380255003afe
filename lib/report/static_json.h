#pragma once

#include "pipeline/static_report.h"
#include "report/json_object.h"

namespace qtool {

/// What the manifest and the JSON report of `static` share.
void add_static_members(JsonObject& object, const StaticReport& report);

}  // namespace qtool
