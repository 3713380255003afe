#include "pipeline/coverage_tensors.h"

#include <algorithm>
#include <tuple>

namespace qtool {
namespace {

bool is_worse(const ScenarioTensor& a, const ScenarioTensor& b) {
  return std::tie(b.clipped, a.range_used, a.name) < std::tie(a.clipped, b.range_used, b.name);
}

bool comes_first(const TensorCoverage& a, const TensorCoverage& b) {
  if (a.clipped.has_value() != b.clipped.has_value()) return a.clipped.has_value();
  if (!a.clipped) return a.name < b.name;
  return is_worse({a.name, *a.clipped, *a.range_used}, {b.name, *b.clipped, *b.range_used});
}

}  // namespace

double clipped_share(const RangeUse& use, const TensorStatistics& statistics) {
  return static_cast<double>(use.clipped_count) / static_cast<double>(statistics.value_count);
}

std::vector<ScenarioTensor> worst_tensors(const std::map<std::string, TensorStatistics>& statistics,
                                          const TensorRanges& ranges, std::size_t count) {
  std::vector<ScenarioTensor> out;
  for (const auto& [name, range] : ranges) {
    const TensorStatistics& of_tensor = statistics.at(name);
    if (const auto use = range_use(of_tensor, range))
      out.push_back({name, clipped_share(*use, of_tensor), use->range_used});
  }
  std::ranges::sort(out, is_worse);
  out.resize(std::min(out.size(), count));
  return out;
}

void sort_worst_first(std::vector<TensorCoverage>& tensors) {
  std::ranges::sort(tensors, comes_first);
}

}  // namespace qtool
