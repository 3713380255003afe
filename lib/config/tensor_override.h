#pragma once

#include "config/config.h"
#include "config/keys.h"

namespace qtool {

void describe(KeyList& keys, TensorOverride& override);
void describe(KeyList& keys, ConvertOverride& convert);

/// Reads what `TensorQuantOverrides` says of one tensor, and checks that its parts agree.
void read_value(const JsonValue& value, const Place& place, const Rule& rule, TensorOverride& out);
void read_value(const JsonValue& value, const Place& place, const Rule& rule, ConvertOverride& out);

void read_value(const JsonValue& value, const Place& place, const Rule& rule, ChannelValues& out);
JsonValue write_value(const ChannelValues& value);
JsonValue schema_of(const ChannelValues*, const Rule& rule);

/// What is given only: an override that says nothing of a member leaves it to the defaults.
JsonValue write_value(const TensorOverride& value);
JsonValue write_value(const ConvertOverride& value);

}  // namespace qtool
