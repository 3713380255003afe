#include "verify/matching.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace qtool {

std::vector<std::optional<std::size_t>> match_names(std::span<const std::string> wanted,
                                                    std::span<const std::string> available) {
  std::unordered_map<std::string_view, std::size_t> index_of;
  for (std::size_t i = 0; i < available.size(); ++i) index_of.try_emplace(available[i], i);
  const std::unordered_set<std::string_view> claims(wanted.begin(), wanted.end());
  std::vector<std::optional<std::size_t>> out(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (const auto it = index_of.find(wanted[i]); it != index_of.end()) {
      out[i] = it->second;
    } else if (i < available.size() && !claims.contains(available[i])) {
      out[i] = i;
    }
  }
  return out;
}

std::vector<std::string> names_of(std::span<const TensorInfo> infos) {
  std::vector<std::string> names;
  std::ranges::transform(infos, std::back_inserter(names), &TensorInfo::name);
  return names;
}

}  // namespace qtool
