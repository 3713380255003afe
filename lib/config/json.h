#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace qtool {

struct JsonMember;

/// A value of a JSON text and the line it stands on.
struct JsonValue {
  using List = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;  ///< in the order of the text
  using Data = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, List, Object>;

  JsonValue() = default;
  JsonValue(Data content, int at_line = 0);

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(data); }
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
  /// The member called `name`, or null where this is no object or has none.
  const JsonValue* find(std::string_view name) const;

  Data data;  ///< null by default
  int line = 0;
};

struct JsonMember {
  std::string name;
  JsonValue value;
  int line = 0;  ///< of the name
};

// Here, where the parts of its data are complete.
inline JsonValue::JsonValue(Data content, int at_line) : data(std::move(content)), line(at_line) {}

/// Reads a JSON text; comments and a byte order mark are allowed, a name that is given twice is
/// not. Errors are of `kind` and begin with `source:line`. Numbers that no int64 holds become
/// double.
JsonValue parse_json(std::string_view text, const std::string& source,
                     ErrorKind kind = ErrorKind::Usage);

/// The same bytes for the same value; objects keep their order. Ends with a newline.
std::string to_json_text(const JsonValue& value);

/// `value` on one line, without the newline.
std::string to_compact_json(const JsonValue& value);

/// A word for what was found: the value of a scalar, `a list`, `an object`.
std::string found_text(const JsonValue& value);

}  // namespace qtool
