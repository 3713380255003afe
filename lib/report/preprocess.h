#pragma once

#include "config/json.h"
#include "pipeline/preprocess_result.h"
#include "report/document.h"
#include "report/json_object.h"

namespace qtool {

Document to_document(const PreprocessResult& result);
/// The manifest and what is too fleeting for it: what each pass and stage did and how long it took.
JsonValue to_json(const PreprocessResult& result);
/// What the manifest and the JSON report of `preprocess` share.
void add_preprocess_members(JsonObject& object, const PreprocessResult& result);

}  // namespace qtool
