#include "config/algorithm.h"

namespace qtool {

void read_value(const JsonValue& value, const Place& place, const Rule& rule, Algorithm& out) {
  if (value.as<std::string>() != nullptr) {
    read_value(value, place, rule, out.name);
    return;
  }
  for (const JsonMember& member : expect_object(value, place)) {
    const Place here = place.member(member.name, member.line);
    if (member.name == "name") {
      read_value(member.value, here, rule, out.name);
    } else {
      read_value(member.value, here, Rule{}, out.parameters[member.name]);
    }
  }
  if (out.name.empty()) throw place.error("has no 'name', expected {\"name\": …}");
}

JsonValue write_value(const Algorithm& value) {
  if (value.parameters.empty()) return write_value(value.name);
  JsonValue::Object out = {{"name", write_value(value.name)}};
  for (const auto& [name, number] : value.parameters) out.push_back({name, write_value(number)});
  return {std::move(out)};
}

JsonValue schema_of(const Algorithm*, const Rule& rule) {
  const JsonValue name = schema_of(static_cast<const std::string*>(nullptr), rule);
  const JsonValue number = schema_of(static_cast<const double*>(nullptr), Rule{});
  const JsonValue object = {
      JsonValue::Object{{"type", {std::string("object")}},
                        {"properties", {JsonValue::Object{{"name", name}}}},
                        {"required", write_value(std::vector<std::string>{"name"})},
                        {"additionalProperties", number}}};
  return {JsonValue::Object{{"anyOf", {JsonValue::List{name, object}}}}};
}

}  // namespace qtool
