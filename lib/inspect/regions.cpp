#include "inspect/regions.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include "inspect/fusion_graph.h"
#include "inspect/kernel_forecast.h"

namespace qtool {
namespace {

/// What lowering appends to the name of a value for what a DequantizeLinear gives.
constexpr std::string_view kDequantized = "_DequantizeLinear_Output";

bool is_quantizer(const onnx::NodeProto& node) { return node.op_type() == "QuantizeLinear"; }
bool is_dequantizer(const onnx::NodeProto& node) { return node.op_type() == "DequantizeLinear"; }

std::string original_name(std::string_view value) {
  if (value.ends_with(kDequantized)) value.remove_suffix(kDequantized.size());
  return std::string(value);
}

void add_once(std::vector<RegionValue>& values, RegionValue value) {
  if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
}

class RegionFinder {
 public:
  explicit RegionFinder(const Model& model)
      : fused_(model, model.graph()), view_(fused_.view()), region_of_(node_count(), kNone) {
    for (int index = 0; index < view_.node_count(); ++index) {
      const auto kernel = node_kernel(fused_, index);
      if (kernel && !kernel->kernel.empty()) region_of_[at(index)] = index;
    }
  }

  std::vector<IntegerRegion> run() {
    for (int index = 0; index < view_.node_count(); ++index)
      if (is_integer(index)) join_makers(index);
    std::map<int, IntegerRegion> regions;
    for (int index = 0; index < view_.node_count(); ++index)
      if (is_integer(index)) add_node(regions[find(index)], index);
    std::vector<IntegerRegion> out;
    for (auto& [first, region] : regions) out.push_back(std::move(region));
    return out;
  }

 private:
  static constexpr int kNone = -1;

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  std::size_t node_count() const { return at(view_.node_count()); }
  bool is_integer(int index) const { return index >= 0 && region_of_[at(index)] != kNone; }

  /// The first node of the region, as far as it is known.
  int find(int index) const {
    while (region_of_[at(index)] != index) index = region_of_[at(index)];
    return index;
  }

  /// The node that makes a value, behind Relu and Clip that are gone.
  int maker_of(const std::string& value) const {
    int producer = view_.producer_of(value);
    while (producer >= 0 && fused_.is_gone(producer))
      producer = view_.producer_of(view_.node(producer).input(0));
    return producer;
  }

  /// Where integers that a node reads come from: the quantizer, or the node that gives them itself.
  int source_of(const std::string& value) const {
    const int producer = view_.producer_of(value);
    const bool has_pair = producer >= 0 && is_dequantizer(view_.node(producer));
    return has_pair ? view_.producer_of(view_.node(producer).input(0)) : producer;
  }

  void join(int a, int b) {
    const auto [first, second] = std::minmax({find(a), find(b)});
    region_of_[at(second)] = first;
  }

  /// Whether what the node makes goes on in integers: into a quantizer that is part of its kernel.
  bool gives_integers(int maker) const {
    return is_integer(maker) && std::ranges::any_of(fused_.behind(maker), [](const End& end) {
             return end.kind == End::Kind::Quantized;
           });
  }

  void join_makers(int index) {
    for (const auto& input : view_.node(index).input()) {
      const int source = source_of(input);
      if (is_integer(source)) join(source, index);
      if (source < 0 || !is_quantizer(view_.node(source))) continue;
      const int maker = maker_of(view_.node(source).input(0));
      if (gives_integers(maker)) join(maker, index);
    }
  }

  void add_node(IntegerRegion& region, int index) const {
    const auto& node = view_.node(index);
    const std::string& name = node.name().empty() ? node.output(0) : node.name();
    if (region.node_count == 0) region.first = name;
    region.last = name;
    ++region.node_count;
    for (const auto& input : node.input()) add_input(region, input);
    for (const auto& output : node.output()) add_outputs(region, output);
  }

  /// Behind the quantizer, which may do a Relu's or Clip's work as well.
  void add_input(IntegerRegion& region, const std::string& input) const {
    const int producer = view_.producer_of(input), source = source_of(input);
    if (source == producer || source < 0 || !is_quantizer(view_.node(source))) return;
    const std::string& value = view_.node(source).input(0);
    if (!gives_integers(maker_of(value)) && !fused_.constant(value))
      add_once(region.inputs, {original_name(input), input});
  }

  /// What float nodes and the graph's outputs see of `value`, which a node of the region makes.
  void add_outputs(IntegerRegion& region, const std::string& value) const {
    if (view_.is_graph_output(value) || view_.is_captured(value))
      add_once(region.outputs, {original_name(value), value});
    for (const Use& use : view_.uses_of(value)) {
      const auto& reader = view_.node(use.node);
      if (fused_.is_gone(use.node) || is_quantizer(reader) || is_dequantizer(reader)) {
        add_outputs(region, reader.output(0));
      } else if (!is_integer(use.node)) {
        add_once(region.outputs, {original_name(value), value});
      }
    }
  }

  FusionGraph fused_;
  const GraphView& view_;
  std::vector<int> region_of_;  ///< by node: itself, or an earlier node of its region
};

}  // namespace

std::vector<IntegerRegion> integer_regions(const Model& model) { return RegionFinder(model).run(); }

}  // namespace qtool
