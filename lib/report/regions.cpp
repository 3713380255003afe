#include "report/regions.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "base/text.h"
#include "report/figures.h"

namespace qtool {
namespace {

using Distances = std::vector<TensorDistance>;

const TensorDistance* worst_of(const Distances& distances) {
  const auto worst = std::ranges::min_element(distances, {}, &TensorDistance::sqnr_db);
  return worst == distances.end() ? nullptr : &*worst;
}

std::string worst_text(const Distances& distances) {
  const TensorDistance* worst = worst_of(distances);
  return worst ? decibel_text(worst->sqnr_db) : "";
}

std::vector<Cell> row_of(const RegionAccuracy& region) {
  return {std::to_string(region.node_count),
          region.first,
          region.last,
          worst_text(region.inputs),
          worst_text(region.outputs),
          cosine_text(worst_of(region.outputs)->cosine_mean)};
}

JsonValue distance_json(const TensorDistance& distance) {
  return JsonObject()
      .add("name", distance.name)
      .add("sqnr_db", distance.sqnr_db)
      .add("cosine_mean", distance.cosine_mean)
      .take();
}

JsonValue region_json(const RegionAccuracy& region) {
  return JsonObject()
      .add("first", region.first)
      .add("last", region.last)
      .add("node_count", region.node_count)
      .add("inputs", json_list(region.inputs, distance_json))
      .add("outputs", json_list(region.outputs, distance_json))
      .take();
}

}  // namespace

std::vector<Section> region_sections(std::span<const RegionAccuracy> regions, std::size_t limit) {
  std::vector<const RegionAccuracy*> measured;
  for (const RegionAccuracy& region : regions)
    if (!region.outputs.empty()) measured.push_back(&region);
  if (measured.empty()) return {};
  std::ranges::stable_sort(measured, {}, [](const RegionAccuracy* region) {
    return worst_of(region->outputs)->sqnr_db;
  });
  Table table{{{"nodes", true},
               {"from"},
               {"to"},
               {"SQNR at begin", true},
               {"at end", true},
               {"cosine", true}},
              {}};
  for (std::size_t i = 0; i < std::min(limit, measured.size()); ++i)
    table.rows.push_back(row_of(*measured[i]));
  const std::string title =
      measured.size() <= limit
          ? "integer regions"
          : fmt::format("integer regions, the worst {} of {}", limit, measured.size());
  return {{title, std::move(table)}};
}

JsonValue to_json(std::span<const RegionAccuracy> regions) {
  return json_list(regions, region_json);
}

}  // namespace qtool
