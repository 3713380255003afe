#pragma once

#include <span>

#include "config/json.h"
#include "inspect/summary.h"
#include "report/document.h"

namespace qtool {

/// What the weights of each element type take before and after, those of the input first.
Section weight_type_section(std::span<const TypeUse> before, std::span<const TypeUse> after);
JsonValue weight_types_json(std::span<const TypeUse> before, std::span<const TypeUse> after);

}  // namespace qtool
