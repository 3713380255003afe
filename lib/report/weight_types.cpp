#include "report/weight_types.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "report/json_object.h"

namespace qtool {
namespace {

const TypeUse* use_of(std::span<const TypeUse> uses, ElementType type) {
  const auto found = std::ranges::find(uses, type, &TypeUse::type);
  return found == uses.end() ? nullptr : &*found;
}

std::vector<ElementType> types_of(std::span<const TypeUse> before, std::span<const TypeUse> after) {
  std::vector<ElementType> types;
  for (const auto& uses : {before, after}) {
    for (const TypeUse& use : uses)
      if (std::ranges::count(types, use.type) == 0) types.push_back(use.type);
  }
  return types;
}

}  // namespace

Section weight_type_section(std::span<const TypeUse> before, std::span<const TypeUse> after) {
  Table table{{{"weights of type"}, {"bytes before", true}, {"after", true}}, {}};
  const auto text = [](const TypeUse* use) {
    return use == nullptr ? std::string("-") : format_bytes(use->bytes);
  };
  for (const ElementType type : types_of(before, after)) {
    table.rows.push_back(
        {element_type_name(type), text(use_of(before, type)), text(use_of(after, type))});
  }
  return {"what the weights take", std::move(table)};
}

JsonValue weight_types_json(std::span<const TypeUse> before, std::span<const TypeUse> after) {
  const auto bytes = [](const TypeUse* use) {
    return use == nullptr ? std::uint64_t{0} : use->bytes;
  };
  return json_list(types_of(before, after), [&](ElementType type) {
    return JsonObject()
        .add("type", element_type_name(type))
        .add("bytes_before", bytes(use_of(before, type)))
        .add("bytes_after", bytes(use_of(after, type)))
        .take();
  });
}

}  // namespace qtool
