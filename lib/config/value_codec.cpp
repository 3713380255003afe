#include "config/value_codec.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"
#include "config/node_selector.h"

namespace qtool {
namespace {

std::string bound_text(double bound) {
  return std::abs(bound) < 1e15 && bound == std::floor(bound)
             ? fmt::format("{}", static_cast<std::int64_t>(bound))
             : fmt::format("{}", bound);
}

/// `a number above 0 and at most 100`
std::string expected_number(std::string_view noun, const Rule& rule) {
  std::string out(noun);
  const bool has_min = std::isfinite(rule.min), has_max = std::isfinite(rule.max);
  if (has_min && has_max && !rule.above_min)
    return fmt::format("{} from {} to {}", noun, bound_text(rule.min), bound_text(rule.max));
  if (has_min)
    out += fmt::format(" {} {}", rule.above_min ? "above" : "of at least", bound_text(rule.min));
  if (has_max)
    out += fmt::format("{} {}", has_min ? " and at most" : " of at most", bound_text(rule.max));
  return out;
}

std::string expected_integer(const Rule& rule) {
  if (rule.one_of.empty()) return expected_number("a whole number", rule);
  return fmt::format("{}", fmt::join(rule.one_of, ", "));
}

Error mismatch(const JsonValue& value, const Place& place, std::string_view expected) {
  return place.error(fmt::format("found {}, expected {}", found_text(value), expected));
}

bool in_range(double value, const Rule& rule) {
  return (rule.above_min ? value > rule.min : value >= rule.min) && value <= rule.max;
}

/// A whole number, also where it is written with a fraction of zero.
std::optional<std::int64_t> whole_number(const JsonValue& value) {
  if (const auto* number = value.as<std::int64_t>()) return *number;
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double skips integers
  const auto* number = value.as<double>();
  if (number == nullptr || std::abs(*number) > kExact || *number != std::floor(*number))
    return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

const std::string& expect_string(const JsonValue& value, const Place& place,
                                 std::string_view expected) {
  const auto* text = value.as<std::string>();
  if (text == nullptr) throw mismatch(value, place, expected);
  return *text;
}

/// A pattern for `word` in whatever case: JSON Schema has no flag for it.
std::string any_case(std::string_view word) {
  std::string out;
  for (const char c : word) {
    const bool is_letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    out += is_letter ? fmt::format("[{}{}]", static_cast<char>(std::toupper(c)),
                                   static_cast<char>(std::tolower(c)))
                     : std::string(1, c);
  }
  return out;
}

JsonValue text_value(std::string_view text) { return {std::string(text)}; }

JsonValue schema_of_number(std::string_view type, const Rule& rule) {
  JsonValue::Object out = {{"type", text_value(type)}};
  if (std::isfinite(rule.min))
    out.push_back({rule.above_min ? "exclusiveMinimum" : "minimum", {rule.min}});
  if (std::isfinite(rule.max)) out.push_back({"maximum", {rule.max}});
  return {std::move(out)};
}

}  // namespace

void read_value(const JsonValue& value, const Place& place, const Rule&, bool& out) {
  const bool* flag = value.as<bool>();
  if (flag == nullptr) throw mismatch(value, place, "true or false");
  out = *flag;
}

void read_value(const JsonValue& value, const Place& place, const Rule& rule, std::int64_t& out) {
  const auto number = whole_number(value);
  const bool allowed = number && in_range(static_cast<double>(*number), rule) &&
                       (rule.one_of.empty() || std::ranges::count(rule.one_of, *number) > 0);
  if (!allowed) throw mismatch(value, place, expected_integer(rule));
  out = *number;
}

void read_value(const JsonValue& value, const Place& place, const Rule& rule, double& out) {
  const auto* whole = value.as<std::int64_t>();
  const auto* number = value.as<double>();
  const double found = whole != nullptr    ? static_cast<double>(*whole)
                       : number != nullptr ? *number
                                           : NAN;
  if (!std::isfinite(found) || !in_range(found, rule))
    throw mismatch(value, place, expected_number("a number", rule));
  out = found;
}

void read_value(const JsonValue& value, const Place& place, const Rule& rule, std::string& out) {
  if (!rule.known.empty()) {
    out = rule.known[read_choice(value, place, rule.noun, rule.known)];
    return;
  }
  const std::string& text = expect_string(value, place, "a string");
  if (rule.is_node_pattern) {
    const std::string fault = node_pattern_fault(text);
    if (!fault.empty())
      throw place.error(
          fmt::format("pattern '{}' is no regular expression: {}", printable(text, 200), fault));
  }
  out = text;
}

void read_value(const JsonValue& value, const Place& place, const Rule&,
                std::filesystem::path& out) {
  const std::string& text = expect_string(value, place, "a path");
  if (text.empty()) throw place.error("is empty, expected a path");
  if (text.find('\0') != std::string::npos)
    throw place.error("holds a NUL character, expected a path");
  out = place.folder / text;
}

std::size_t read_choice(const JsonValue& value, const Place& place, std::string_view noun,
                        const std::vector<std::string>& names) {
  const std::string& text = expect_string(value, place, fmt::format("one of {}", join(names)));
  const std::string word = to_lower(text);
  const auto index_of = [&](std::string_view wanted) {
    return static_cast<std::size_t>(
        std::ranges::find_if(names,
                             [&](const std::string& name) { return to_lower(name) == wanted; }) -
        names.begin());
  };
  std::size_t index = index_of(word);
  // ONNX Runtime writes its types QInt8, QUInt8 …
  if (index == names.size() && word.starts_with('q'))
    index = index_of(std::string_view(word).substr(1));
  if (index < names.size()) return index;
  throw place.error(fmt::format("unknown {} '{}'", noun, printable(text, 200)),
                    known_names_hint(text, names));
}

const JsonValue::List& expect_list(const JsonValue& value, const Place& place) {
  const auto* list = value.as<JsonValue::List>();
  if (list == nullptr) throw mismatch(value, place, "a list");
  return *list;
}

const JsonValue::Object& expect_object(const JsonValue& value, const Place& place) {
  const auto* object = value.as<JsonValue::Object>();
  if (object == nullptr) throw mismatch(value, place, "an object");
  return *object;
}

JsonValue schema_of(const bool*, const Rule&) {
  return {JsonValue::Object{{"type", text_value("boolean")}}};
}

JsonValue schema_of(const std::int64_t*, const Rule& rule) {
  if (rule.one_of.empty()) return schema_of_number("integer", rule);
  return {JsonValue::Object{{"enum", write_value(rule.one_of)}}};
}

JsonValue schema_of(const double*, const Rule& rule) { return schema_of_number("number", rule); }

JsonValue schema_of(const std::string*, const Rule& rule) {
  return rule.known.empty() ? JsonValue(JsonValue::Object{{"type", text_value("string")}})
                            : schema_of_choice(rule.known);
}

JsonValue schema_of(const std::filesystem::path*, const Rule&) {
  return {JsonValue::Object{{"type", text_value("string")}, {"minLength", {std::int64_t{1}}}}};
}

JsonValue schema_of_choice(const std::vector<std::string>& names) {
  // An editor offers what `enum` lists; the pattern takes the spellings that read_choice takes too.
  std::vector<std::string> spellings;
  spellings.reserve(names.size());
  for (const std::string& name : names) spellings.push_back(any_case(name));
  JsonValue::List any = {
      {JsonValue::Object{{"enum", write_value(names)}}},
      {JsonValue::Object{{"type", text_value("string")},
                         {"pattern", {fmt::format("^[Qq]?({})$", join(spellings, "|"))}}}}};
  return {JsonValue::Object{{"anyOf", {std::move(any)}}}};
}

JsonValue schema_of_list(JsonValue element) {
  return {JsonValue::Object{{"type", text_value("array")}, {"items", std::move(element)}}};
}

JsonValue schema_of_map(JsonValue element) {
  return {JsonValue::Object{{"type", text_value("object")},
                            {"additionalProperties", std::move(element)}}};
}

JsonValue schema_or_null(JsonValue schema) {
  JsonValue::List any = {std::move(schema), {JsonValue::Object{{"type", text_value("null")}}}};
  return {JsonValue::Object{{"anyOf", {std::move(any)}}}};
}

}  // namespace qtool
