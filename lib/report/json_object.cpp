#include "report/json_object.h"

#include <cmath>

namespace qtool {

JsonValue to_json(double number) {
  if (std::isnan(number)) return {};
  if (std::isinf(number)) return to_json(number > 0 ? "Infinity" : "-Infinity");
  return JsonValue(JsonValue::Data(number));
}

JsonValue to_json(bool value) { return JsonValue(JsonValue::Data(value)); }

JsonValue to_json(const std::string& text) { return JsonValue(JsonValue::Data(text)); }

JsonValue to_json(const char* text) { return to_json(std::string(text)); }

JsonValue to_json(const std::filesystem::path& path) { return to_json(path.native()); }

JsonValue to_json(const std::vector<std::string>& words) {
  return json_list(words, [](const std::string& word) { return to_json(word); });
}

}  // namespace qtool
