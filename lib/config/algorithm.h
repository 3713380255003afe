#pragma once

#include "config/config.h"
#include "config/value_codec.h"

namespace qtool {

/// An algorithm is its name, or an object of its name and its parameters.
void read_value(const JsonValue& value, const Place& place, const Rule& rule, Algorithm& out);
JsonValue write_value(const Algorithm& value);
JsonValue schema_of(const Algorithm*, const Rule& rule);

}  // namespace qtool
