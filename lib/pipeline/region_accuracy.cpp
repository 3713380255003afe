#include "pipeline/region_accuracy.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/parallel.h"
#include "inspect/regions.h"
#include "model/graph_view.h"
#include "runtime/session.h"
#include "samples/samples.h"
#include "verify/compare.h"

namespace qtool {
namespace {

/// Enough for figures of noise, and all edges of a sample are in memory at once.
constexpr std::size_t kSamples = 32;

/// Samples from all over a folder: neighbours, as pieces of one recording, are often alike.
class SpreadSamples : public SampleFolder {
 public:
  explicit SpreadSamples(const SampleFolder& all) : all_(all) {}
  std::size_t size() const override { return std::min(kSamples, all_.size()); }
  const std::string& name(std::size_t index) const override { return all_.name(at(index)); }
  Sample read(std::size_t index) const override { return all_.read(at(index)); }
  std::string sha256() const override { return all_.sha256(); }
  std::string sha256_of(std::size_t index) const override { return all_.sha256_of(at(index)); }
  std::uint64_t bytes(std::size_t index) const override { return all_.bytes(at(index)); }

 private:
  std::size_t at(std::size_t index) const { return index * all_.size() / size(); }

  const SampleFolder& all_;
};

/// The model with other outputs. Their types are for ONNX Runtime to find.
Model with_outputs(Model model, const std::vector<std::string>& values) {
  model.graph().clear_output();
  for (const std::string& value : values) model.graph().add_output()->set_name(value);
  return model;
}

/// The edges that both models have, each once.
std::vector<RegionValue> shared_edges(const Model& reference,
                                      const std::vector<IntegerRegion>& regions) {
  const GraphView graph(reference.graph());
  std::vector<RegionValue> out;
  const auto add = [&](const RegionValue& edge) {
    const bool is_known = std::ranges::find(out, edge.name, &RegionValue::name) != out.end();
    if (!is_known && graph.producer_of(edge.name) >= 0) out.push_back(edge);
  };
  for (const IntegerRegion& region : regions) {
    std::ranges::for_each(region.inputs, add);
    std::ranges::for_each(region.outputs, add);
  }
  return out;
}

using Distances = std::map<std::string, TensorDistance>;

std::vector<TensorDistance> distances_of(const std::vector<RegionValue>& edges,
                                         const Distances& distances) {
  std::vector<TensorDistance> out;
  for (const RegionValue& edge : edges) {
    const auto found = distances.find(edge.name);
    if (found != distances.end() && found->second.value_count > 0) out.push_back(found->second);
  }
  return out;
}

Distances compare(Model reference, Model quantized, const std::vector<RegionValue>& edges,
                  const std::filesystem::path& data, const Config& config) {
  std::vector<std::string> names, values;
  for (const RegionValue& edge : edges) {
    names.push_back(edge.name);
    values.push_back(edge.value);
  }
  const Model before = with_outputs(std::move(reference), names),
              after = with_outputs(std::move(quantized), values);
  const Session before_session(before, {}), after_session(after, {});
  SampleOptions options;
  options.allow_nonfinite = config.calibration.allow_nonfinite;
  const auto samples = open_samples(data, before_session.inputs(), options);
  CompareOptions compare_options;
  compare_options.threads = config.threads > 0 ? config.threads : available_cores();
  const Comparison found =
      compare_models(before_session, after_session, SpreadSamples(*samples), compare_options);
  Distances out;
  for (const TensorDistance& each : found.outputs) out.emplace(each.name, each);
  return out;
}

}  // namespace

std::vector<RegionAccuracy> measure_regions(Model reference, const std::filesystem::path& quantized,
                                            const std::filesystem::path& data,
                                            const Config& config) {
  Model after = load_model(quantized);
  const std::vector<IntegerRegion> regions = integer_regions(after);
  const std::vector<RegionValue> edges = shared_edges(reference, regions);
  if (edges.empty()) return {};
  const Distances distances = compare(std::move(reference), std::move(after), edges, data, config);
  std::vector<RegionAccuracy> out;
  out.reserve(regions.size());
  for (const IntegerRegion& region : regions) {
    out.push_back({region.first, region.last, region.node_count,
                   distances_of(region.inputs, distances),
                   distances_of(region.outputs, distances)});
  }
  return out;
}

}  // namespace qtool
