#include "config/kept_io_types.h"

namespace qtool {

void read_value(const JsonValue& value, const Place& place, const Rule& rule, KeptIoTypes& out) {
  KeptIoTypes read{.all = false, .names = {}};
  if (value.as<std::string>() != nullptr)
    read_value(value, place, rule, read.names.emplace_back());
  else if (value.as<JsonValue::List>() != nullptr)
    read_value(value, place, rule, read.names);
  else
    read_value(value, place, rule, read.all);
  out = std::move(read);
}

JsonValue write_value(const KeptIoTypes& value) {
  return value.all || value.names.empty() ? write_value(value.all) : write_value(value.names);
}

JsonValue schema_of(const KeptIoTypes*, const Rule& rule) {
  const JsonValue all = schema_of(static_cast<const bool*>(nullptr), rule);
  const JsonValue names = schema_of(static_cast<const std::vector<std::string>*>(nullptr), rule);
  return {JsonValue::Object{{"anyOf", {JsonValue::List{all, names}}}}};
}

}  // namespace qtool
