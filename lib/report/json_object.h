#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/json.h"

namespace qtool {

/// A number; JSON has no others than finite ones: infinities become the strings `Infinity` and
/// `-Infinity`, NaN null.
JsonValue to_json(double number);
JsonValue to_json(bool value);
JsonValue to_json(const std::string& text);
JsonValue to_json(const char* text);
JsonValue to_json(const std::filesystem::path& path);
template <std::integral T>
JsonValue to_json(T number) {
  return JsonValue(JsonValue::Data(static_cast<std::int64_t>(number)));
}
template <typename T>
JsonValue to_json(const std::optional<T>& value) {
  return value ? to_json(*value) : JsonValue();
}
JsonValue to_json(const std::vector<std::string>& words);

/// A list of `each(item)`.
template <typename Items, typename Each>
JsonValue json_list(const Items& items, const Each& each) {
  JsonValue::List list;
  for (const auto& item : items) list.push_back(each(item));
  return JsonValue(std::move(list));
}

/// Builds an object member by member, in the order in which it will be read.
class JsonObject {
 public:
  template <typename T>
  JsonObject& add(std::string name, const T& value) {
    return add(std::move(name), to_json(value));
  }
  JsonObject& add(std::string name, JsonValue value) {
    members_.push_back({std::move(name), std::move(value), 0});
    return *this;
  }
  JsonValue take() { return JsonValue(std::move(members_)); }

 private:
  JsonValue::Object members_;
};

}  // namespace qtool
