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

std::vector<ScenarioTensor> worst_tensors(const std::map<std::string, HeldOutValues>& values,
                                          const TensorRanges& ranges, std::size_t count) {
  std::vector<ScenarioTensor> out;
  for (const auto& [name, range] : ranges) {
    const HeldOutValues& of_tensor = values.at(name);
    if (of_tensor.statistics.value_count > 0)
      out.push_back({name, of_tensor.clipped(), range_used(of_tensor.statistics, range)});
  }
  std::ranges::sort(out, is_worse);
  out.resize(std::min(out.size(), count));
  return out;
}

void sort_worst_first(std::vector<TensorCoverage>& tensors) {
  std::ranges::sort(tensors, comes_first);
}

}  // namespace qtool
