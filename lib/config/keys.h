#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "config/json.h"
#include "config/key_info.h"
#include "config/place.h"
#include "config/value_codec.h"

namespace qtool {

/// What the tool knows of one key, bound to the struct that its list was made for.
struct Key {
  std::string name;
  std::string doc;  ///< one sentence
  WordForm form = WordForm::Json;
  bool is_map = false;  ///< holds entries under names of the user's
  std::function<void(const JsonValue&, const Place&)>
      read;                          ///< a `Usage` error where the value does not fit
  std::function<JsonValue()> write;  ///< the present value
  std::function<JsonValue()> schema;
  std::string
      moved_to;  ///< not empty: a name of ONNX Runtime's for this other key, and nothing else
  std::function<std::vector<Key>()> members;  ///< empty: a value, not a section
};

class KeyList;

/// A struct that has a description of its keys.
template <typename T>
concept Described = requires(KeyList& keys, T& value) {
  describe(keys, value);
};

/// Collects the description of a struct: `describe(KeyList&, T&)` calls `add` once for each member.
class KeyList {
 public:
  template <typename T>
  void add(std::string_view name, T& member, std::string_view doc, const Rule& rule = {});

  /// Says that ONNX Runtime's option `name` is the key `moved_to` here.
  void add_moved(std::string_view name, std::string_view moved_to);

  std::vector<Key> take() { return std::move(keys_); }

 private:
  std::vector<Key> keys_;
};

template <Described T>
std::vector<Key> keys_of(T& value) {
  KeyList keys;
  describe(keys, value);
  return keys.take();
}

/// Reads the members of an object into `keys`; a `Usage` error for a name that is none of them.
void read_members(const JsonValue& value, const Place& place, const std::vector<Key>& keys);
JsonValue write_members(const std::vector<Key>& keys);
JsonValue schema_of_members(const std::vector<Key>& keys);

template <Described T>
void read_value(const JsonValue& value, const Place& place, const Rule&, T& out) {
  read_members(value, place, keys_of(out));
}
template <Described T>
JsonValue write_value(const T& value) {
  T copy = value;
  return write_members(keys_of(copy));
}
template <Described T>
JsonValue schema_of(const T*, const Rule&) {
  T value{};
  return schema_of_members(keys_of(value));
}

/// The names along a dotted key, which may hold dots themselves, and what is known of the last.
struct KeyPath {
  std::vector<std::string> names;
  KeyInfo info;
};

/// Finds a dotted key; a `Usage` error at `place` where there is none.
KeyPath resolve_key(std::string_view dotted, const std::vector<Key>& keys, const Place& place);

template <typename T>
struct WithoutOptional {
  using type = T;
};
template <typename T>
struct WithoutOptional<std::optional<T>> {
  using type = T;
};

template <typename T>
constexpr bool is_string_map = false;
template <typename T>
constexpr bool is_string_map<std::map<std::string, T>> = true;

template <typename T>
constexpr WordForm word_form() {
  using Value = typename WithoutOptional<T>::type;
  if constexpr (std::is_same_v<Value, std::string> ||
                std::is_same_v<Value, std::filesystem::path> || NamedEnum<Value>) {
    return WordForm::Text;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return WordForm::Switch;
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    return WordForm::List;
  } else if constexpr (Described<Value> || is_string_map<Value>) {
    return WordForm::Pairs;
  } else {
    return WordForm::Json;
  }
}

template <typename T>
void KeyList::add(std::string_view name, T& member, std::string_view doc, const Rule& rule) {
  Key key;
  key.name = name;
  key.doc = doc;
  key.form = word_form<T>();
  key.is_map = is_string_map<T>;
  key.read = [&member, rule](const JsonValue& value, const Place& place) {
    read_value(value, place, rule, member);
  };
  key.write = [&member] { return write_value(member); };
  key.schema = [rule] { return schema_of(static_cast<const T*>(nullptr), rule); };
  if constexpr (Described<T>) key.members = [&member] { return keys_of(member); };
  keys_.push_back(std::move(key));
}

}  // namespace qtool
