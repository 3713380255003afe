#pragma once

#include <string>
#include <unordered_set>

#include <google/protobuf/repeated_field.h>

namespace qtool {

/// Takes out of a list of messages with a `name` those of these names; the others keep their order.
template <typename Named>
void erase_named(google::protobuf::RepeatedPtrField<Named>& list,
                 const std::unordered_set<std::string>& names) {
  int kept = 0;
  for (int i = 0; i < list.size(); ++i) {
    if (names.contains(list.Get(i).name())) continue;
    if (kept != i) list.SwapElements(kept, i);
    ++kept;
  }
  list.DeleteSubrange(kept, list.size() - kept);
}

}  // namespace qtool
