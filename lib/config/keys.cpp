#include "config/keys.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/text.h"

namespace qtool {
namespace {

std::vector<std::string> names_of(const std::vector<Key>& keys) {
  std::vector<std::string> out;
  for (const Key& key : keys) {
    if (key.moved_to.empty()) out.push_back(key.name);
  }
  return out;
}

/// Null where there is none; a `Usage` error at `place` where it has another name here.
const Key* find_key(const std::vector<Key>& keys, std::string_view name, const Place& place) {
  const auto found = std::ranges::find(keys, name, &Key::name);
  if (found == keys.end()) return nullptr;
  if (!found->moved_to.empty())
    throw place.error("is a key of another name", fmt::format("write {}", found->moved_to));
  return &*found;
}

Error unknown_key(std::string_view name, const Place& place, const std::vector<Key>& siblings) {
  return place.error("unknown key", known_names_hint(name, names_of(siblings)));
}

}  // namespace

void KeyList::add_moved(std::string_view name, std::string_view moved_to) {
  Key key;
  key.name = name;
  key.moved_to = moved_to;
  keys_.push_back(std::move(key));
}

void read_members(const JsonValue& value, const Place& place, const std::vector<Key>& keys) {
  for (const JsonMember& member : expect_object(value, place)) {
    const Place here = place.member(member.name, member.line);
    const Key* key = find_key(keys, member.name, here);
    if (key == nullptr) throw unknown_key(member.name, here, keys);
    key->read(member.value, here);
  }
}

JsonValue write_members(const std::vector<Key>& keys) {
  JsonValue::Object out;
  for (const Key& key : keys) {
    if (key.moved_to.empty()) out.push_back({key.name, key.write()});
  }
  return {std::move(out)};
}

JsonValue schema_of_members(const std::vector<Key>& keys) {
  JsonValue::Object properties;
  for (const Key& key : keys) {
    if (!key.moved_to.empty()) continue;
    JsonValue schema = key.schema();
    auto& object = std::get<JsonValue::Object>(schema.data);
    object.insert(object.begin(), {"description", {key.doc}});
    if (!key.members) object.push_back({"default", key.write()});
    properties.push_back({key.name, std::move(schema)});
  }
  return {JsonValue::Object{{"type", {std::string("object")}},
                            {"properties", {std::move(properties)}},
                            {"additionalProperties", {false}}}};
}

KeyPath resolve_key(std::string_view dotted, const std::vector<Key>& keys, const Place& place) {
  if (const Key* key = find_key(keys, dotted, place)) return {{key->name}, {key->doc, key->form}};
  for (const Key& key : keys) {
    if (!dotted.starts_with(key.name + ".")) continue;
    const std::string_view rest = dotted.substr(key.name.size() + 1);
    if (key.is_map && !rest.empty())
      return {{key.name, std::string(rest)}, {key.doc, WordForm::Json}};
    if (!key.members) break;
    KeyPath path = resolve_key(rest, key.members(), place);
    path.names.insert(path.names.begin(), key.name);
    return path;
  }
  const std::string_view word = dotted.substr(0, dotted.find('.'));
  throw unknown_key(find_key(keys, word, place) == nullptr ? word : dotted, place, keys);
}

}  // namespace qtool
