#pragma once

#include "config/config.h"
#include "config/value_codec.h"

namespace qtool {

/// All, none, one name or a list of names.
void read_value(const JsonValue& value, const Place& place, const Rule& rule, KeptIoTypes& out);
JsonValue write_value(const KeptIoTypes& value);
JsonValue schema_of(const KeptIoTypes*, const Rule& rule);

}  // namespace qtool
