#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/enum_names.h"
#include "config/json.h"
#include "config/place.h"

// How each type that a config struct uses is read from JSON, written to it and told to a JSON
// Schema. Overloads by type: one description of the keys (describe.cpp) then serves reading,
// writing, schema and documents.

namespace qtool {

/// What a value may be beyond its type. Bounds hold for numbers, inside lists and maps too.
struct Rule {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;              ///< `min` itself is not allowed
  std::vector<std::int64_t> one_of{};  ///< not empty: the only integers allowed
  std::string_view noun = "name";      ///< what a string is called
  std::vector<std::string> known{};    ///< not empty: the only strings allowed, whatever their case
  bool is_node_pattern = false;        ///< strings written /like this/ must be regular expressions
};

void read_value(const JsonValue& value, const Place& place, const Rule& rule, bool& out);
void read_value(const JsonValue& value, const Place& place, const Rule& rule, std::int64_t& out);
void read_value(const JsonValue& value, const Place& place, const Rule& rule, double& out);
void read_value(const JsonValue& value, const Place& place, const Rule& rule, std::string& out);
void read_value(const JsonValue& value, const Place& place, const Rule& rule,
                std::filesystem::path& out);

/// The index of `word` in `names`, ignoring case and a leading Q; a `Usage` error naming the
/// nearest otherwise.
std::size_t read_choice(const JsonValue& value, const Place& place, std::string_view noun,
                        const std::vector<std::string>& names);
const JsonValue::List& expect_list(const JsonValue& value, const Place& place);
const JsonValue::Object& expect_object(const JsonValue& value, const Place& place);

inline JsonValue write_value(bool value) { return {value}; }
inline JsonValue write_value(std::int64_t value) { return {value}; }
inline JsonValue write_value(double value) { return {value}; }
inline JsonValue write_value(const std::string& value) { return {value}; }
inline JsonValue write_value(const std::filesystem::path& value) { return {value.string()}; }

JsonValue schema_of(const bool*, const Rule& rule);
JsonValue schema_of(const std::int64_t*, const Rule& rule);
JsonValue schema_of(const double*, const Rule& rule);
JsonValue schema_of(const std::string*, const Rule& rule);
JsonValue schema_of(const std::filesystem::path*, const Rule& rule);
JsonValue schema_of_choice(const std::vector<std::string>& names);
JsonValue schema_of_list(JsonValue element);
JsonValue schema_of_map(JsonValue element);
/// `schema`, or null.
JsonValue schema_or_null(JsonValue schema);

template <typename E>
concept NamedEnum = requires {
  EnumNames<E>::kEntries;
};

template <NamedEnum E>
std::vector<std::string> enum_name_list() {
  std::vector<std::string> out;
  out.reserve(EnumNames<E>::kEntries.size());
  for (const auto& entry : EnumNames<E>::kEntries) out.emplace_back(entry.name);
  return out;
}

template <NamedEnum E>
void read_value(const JsonValue& value, const Place& place, const Rule&, E& out) {
  out = EnumNames<E>::kEntries[read_choice(value, place, EnumNames<E>::kNoun, enum_name_list<E>())]
            .value;
}
template <NamedEnum E>
JsonValue write_value(E value) {
  return {std::string(enum_name(value))};
}
template <NamedEnum E>
JsonValue schema_of(const E*, const Rule&) {
  return schema_of_choice(enum_name_list<E>());
}

// Declared before their definitions: they nest.
template <typename T>
void read_value(const JsonValue& value, const Place& place, const Rule& rule, std::vector<T>& out);
template <typename T>
void read_value(const JsonValue& value, const Place& place, const Rule& rule,
                std::map<std::string, T>& out);
template <typename T>
JsonValue write_value(const std::vector<T>& value);
template <typename T>
JsonValue write_value(const std::map<std::string, T>& value);
template <typename T>
JsonValue schema_of(const std::vector<T>*, const Rule& rule);
template <typename T>
JsonValue schema_of(const std::map<std::string, T>*, const Rule& rule);

template <typename T>
void read_value(const JsonValue& value, const Place& place, const Rule& rule,
                std::optional<T>& out) {
  if (value.is_null()) {
    out.reset();
    return;
  }
  T inner{};
  read_value(value, place, rule, inner);
  out = std::move(inner);
}
template <typename T>
JsonValue write_value(const std::optional<T>& value) {
  return value ? write_value(*value) : JsonValue();
}
template <typename T>
JsonValue schema_of(const std::optional<T>*, const Rule& rule) {
  return schema_or_null(schema_of(static_cast<const T*>(nullptr), rule));
}

template <typename T>
void read_value(const JsonValue& value, const Place& place, const Rule& rule, std::vector<T>& out) {
  std::vector<T> list;
  for (const JsonValue& element : expect_list(value, place)) {
    const Place here = place.element(list.size(), element.line);
    read_value(element, here, rule, list.emplace_back());
  }
  out = std::move(list);
}
template <typename T>
JsonValue write_value(const std::vector<T>& value) {
  JsonValue::List out;
  for (const T& element : value) out.push_back(write_value(element));
  return {std::move(out)};
}
template <typename T>
JsonValue schema_of(const std::vector<T>*, const Rule& rule) {
  return schema_of_list(schema_of(static_cast<const T*>(nullptr), rule));
}

/// Entries are added to those of a weaker source, which they replace by name.
template <typename T>
void read_value(const JsonValue& value, const Place& place, const Rule& rule,
                std::map<std::string, T>& out) {
  for (const JsonMember& member : expect_object(value, place)) {
    T entry{};
    read_value(member.value, place.member(member.name, member.line), rule, entry);
    out.insert_or_assign(member.name, std::move(entry));
  }
}
template <typename T>
JsonValue write_value(const std::map<std::string, T>& value) {
  JsonValue::Object out;
  for (const auto& [name, entry] : value) out.push_back({name, write_value(entry)});
  return {std::move(out)};
}
template <typename T>
JsonValue schema_of(const std::map<std::string, T>*, const Rule& rule) {
  return schema_of_map(schema_of(static_cast<const T*>(nullptr), rule));
}

}  // namespace qtool
