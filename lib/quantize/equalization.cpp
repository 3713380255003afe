#include "quantize/equalization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "model/graph_view.h"
#include "quantize/plan_builder.h"
#include "quantize/tensor_overrides.h"
#include "quantize/weight_layout.h"
#include "quantize/weight_noise.h"

namespace qtool {
namespace {

constexpr std::string_view kName = "cross_layer_equalization";
/// Larger factors would serve channels that hardly count.
constexpr double kMostOctaves = 10;

bool is_layer(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  return is_default_domain(node.domain()) && node.input_size() >= 2 &&
         (type == "Conv" || type == "MatMul" ||
          (type == "Gemm" && int_attribute(node, "transA", 0) == 0));
}

/// Whether the operator gives twice as much for twice its input, channel by channel.
bool commutes_with_factors(const onnx::NodeProto& node, bool is_conv) {
  static constexpr std::array<std::string_view, 3> kByValue = {"Relu", "LeakyRelu", "Identity"};
  static constexpr std::array<std::string_view, 4> kPools = {"MaxPool", "AveragePool",
                                                             "GlobalMaxPool", "GlobalAveragePool"};
  if (!is_default_domain(node.domain()) || node.output_size() != 1) return false;
  return std::ranges::find(kByValue, node.op_type()) != kByValue.end() ||
         (is_conv && std::ranges::find(kPools, node.op_type()) != kPools.end());
}

/// Largest magnitude of each output channel, or of each input channel.
enum class Side { Outputs, Inputs };
std::vector<double> largest(const Tensor& weight, const WeightLayout& layout, Side side) {
  std::vector<double> out(side == Side::Outputs ? layout.outputs : layout.inputs(), 0.0);
  const std::span<const float> values = weight.floats();
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& channel = out[side == Side::Outputs ? layout.output_of(i) : layout.input_of(i)];
    channel = std::max(channel, std::abs(double{values[i]}));
  }
  return out;
}

/// By how many octaves each channel is made smaller before and larger behind, given its largest
/// magnitudes: whole ones, counted from the middle channel so that all stay about as large as they
/// are. Where what is behind stays in float it takes all that the first has too much.
std::vector<double> octaves_between(std::span<const double> sent, std::span<const double> taken,
                                    bool is_free) {
  std::vector<double> out;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const double octave = std::log2(is_free ? sent[i] : std::sqrt(sent[i] / taken[i]));
    out.push_back(std::isfinite(octave) ? octave : 0);
  }
  std::vector<double> sorted = out;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  for (double& octave : out)
    octave = std::clamp(std::round(octave - *middle), -kMostOctaves, kMostOctaves);
  return out;
}

void scale(Tensor& weight, const std::vector<double>& octaves, double sign,
           const std::function<std::size_t(std::size_t)>& channel_of) {
  const std::span<const float> values = weight.floats();
  std::vector<float> scaled(values.begin(), values.end());
  for (std::size_t i = 0; i < scaled.size(); ++i)
    scaled[i] *= static_cast<float>(std::exp2(sign * octaves[channel_of(i)]));
  const auto bytes = std::as_bytes(std::span(scaled));
  weight.bytes.assign(bytes.begin(), bytes.end());
}

bool is_finite(const Tensor& tensor) {
  return std::ranges::all_of(tensor.floats(), [](float value) { return std::isfinite(value); });
}

/// A layer and the one behind it.
struct Pair {
  const onnx::NodeProto* first = nullptr;
  const onnx::NodeProto* second = nullptr;
  std::vector<std::string> between;  ///< values
};

class Equalization {
 public:
  Equalization(const Model& model, const QuantizationConfig& config, std::set<std::string> noisy)
      : model_(model),
        overrides_(config.extra_options),
        params_{.type = element_type(config.weight_type), .scales = {}, .zero_points = {}},
        noisy_(std::move(noisy)) {
    for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
      for (const auto& node : graph.node()) {
        for (const std::string& name : node.input()) ++use_counts_[name];
      }
    });
  }

  void look_at(const onnx::GraphProto& graph, const GraphView* outer) {
    const GraphView view(graph, outer);
    for (const auto& node : graph.node()) {
      if (is_layer(node) && noisy_.contains(node.input(1))) {
        if (const auto pair = pair_behind(view, node)) equalize(view, *pair);
      }
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) look_at(attribute.g(), &view);
      }
    }
  }

  std::vector<EqualizedWeight> write_to(Model& model) {
    NameAllocator names(model.graph());
    for_each_graph(model.graph(), [&](onnx::GraphProto& graph) {
      std::map<std::string, std::string> renamed;
      for (const std::string& value : moved_[&graph])
        renamed.emplace(value, names.unique(value + "_equalized"));
      const auto rename = [&](std::string& name) {
        if (const auto found = renamed.find(name); found != renamed.end()) name = found->second;
      };
      for (auto& node : *graph.mutable_node()) {
        for (std::string& name : *node.mutable_input()) rename(name);
        for (std::string& name : *node.mutable_output()) rename(name);
      }
      for (auto& value : *graph.mutable_value_info()) rename(*value.mutable_name());
      for (auto& tensor : *graph.mutable_initializer()) {
        const auto found = tensors_.find(tensor.name());
        if (found == tensors_.end() || !changed_.contains(tensor.name())) continue;
        const Tensor& values = found->second;
        tensor = make_tensor(tensor.name(), values.type, values.shape, values.bytes);
      }
    });
    return std::move(equalized_);
  }

 private:
  /// A float32 constant that this one reader has.
  bool is_own(const GraphView& graph, const std::string& name) const {
    const onnx::TensorProto* tensor = graph.initializer(name);
    return tensor && element_type(*tensor) == ElementType::Float && use_counts_.at(name) == 1 &&
           !graph.is_graph_input(name) && !graph.is_graph_output(name) && !overrides_.find(name);
  }
  /// The only reader of a value that nothing else knows of.
  std::optional<Use> only_use(const GraphView& graph, const std::string& value) const {
    const auto uses = graph.uses_of(value);
    const bool is_alone = uses.size() == 1 && !graph.is_graph_output(value) &&
                          !graph.is_captured(value) && !overrides_.find(value);
    return is_alone ? std::optional(uses.front()) : std::nullopt;
  }

  std::optional<Pair> pair_behind(const GraphView& graph, const onnx::NodeProto& first) const {
    const bool is_conv = first.op_type() == "Conv";
    const bool has_bias = first.input_size() > 2 && !first.input(2).empty();
    if (!is_own(graph, first.input(1)) || (has_bias && !is_own(graph, first.input(2))))
      return std::nullopt;
    Pair out{.first = &first, .between = {first.output(0)}};
    for (;;) {
      const auto use = only_use(graph, out.between.back());
      if (!use || use->slot != 0) return std::nullopt;
      const onnx::NodeProto& node = graph.node(use->node);
      if (is_layer(node) && is_conv == (node.op_type() == "Conv")) {
        out.second = &node;
        return is_own(graph, node.input(1)) ? std::optional(out) : std::nullopt;
      }
      if (!commutes_with_factors(node, is_conv)) return std::nullopt;
      out.between.push_back(node.output(0));
    }
  }

  Tensor& tensor(const GraphView& graph, const std::string& name) {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    return tensors_.emplace(name, model_.tensor(*graph.initializer(name))).first->second;
  }
  double sqnr_db(const Tensor& weight, const WeightLayout& layout) const {
    return median_sqnr_db(weight, layout.is_transposed ? 1 : 0, params_).value_or(0);
  }

  void equalize(const GraphView& graph, const Pair& pair) {
    Tensor &first = tensor(graph, pair.first->input(1)),
           &second = tensor(graph, pair.second->input(1));
    const WeightLayout rows = weight_layout(*pair.first, first.shape);
    const WeightLayout columns = weight_layout(*pair.second, second.shape);
    if (rows.outputs == 0 || rows.outputs != columns.inputs()) return;
    const bool has_bias = pair.first->input_size() > 2 && !pair.first->input(2).empty();
    if (has_bias && tensor(graph, pair.first->input(2)).element_count() != rows.outputs) return;
    const bool is_free = noisy_.contains(pair.second->input(1));
    const std::vector<double> octaves = octaves_between(
        largest(first, rows, Side::Outputs), largest(second, columns, Side::Inputs), is_free);
    Tensor new_first = first, new_second = second;
    scale(new_first, octaves, -1, [&](std::size_t i) { return rows.output_of(i); });
    scale(new_second, octaves, 1, [&](std::size_t i) { return columns.input_of(i); });
    if (!is_finite(new_first) || !is_finite(new_second)) return;
    const double before = sqnr_db(first, rows), after = sqnr_db(new_first, rows);
    if (after < kLeastSqnrDb || (!is_free && sqnr_db(new_second, columns) < kLeastSqnrDb)) return;
    first = std::move(new_first);
    second = std::move(new_second);
    if (has_bias) scale(tensor(graph, pair.first->input(2)), octaves, -1, std::identity());
    auto& moved = moved_[&graph.graph()];
    moved.insert(moved.end(), pair.between.begin(), pair.between.end());
    noisy_.erase(pair.first->input(1));
    changed_.insert({pair.first->input(1), pair.second->input(1)});
    if (has_bias) changed_.insert(pair.first->input(2));
    equalized_.push_back({pair.first->input(1), pair.second->input(1), before, after});
  }

  const Model& model_;
  TensorOverrides overrides_;
  QuantParams params_;
  std::set<std::string> noisy_;
  std::map<std::string, std::size_t> use_counts_;
  std::map<std::string, Tensor> tensors_;
  std::set<std::string> changed_;
  std::map<const onnx::GraphProto*, std::vector<std::string>> moved_;  ///< values, by graph
  std::vector<EqualizedWeight> equalized_;
};

}  // namespace

bool equalizes_layers(const QuantizationConfig& config, const Placement& placement) {
  if (config.per_channel) return false;
  if (!config.algorithms) return placement.spares_noisy_weights;
  return std::ranges::find(*config.algorithms, kName, &Algorithm::name) != config.algorithms->end();
}

std::vector<EqualizedWeight> equalize_layers(Model& model, const QuantizationConfig& config,
                                             const Placement& placement) {
  std::set<std::string> noisy;
  for (const NoisyWeight& weight :
       noisy_weights(model, draft_plan(model, config, placement), placement))
    noisy.insert(weight.name);
  if (noisy.empty()) return {};
  Equalization equalization(model, config, std::move(noisy));
  equalization.look_at(model.graph(), nullptr);
  return equalization.write_to(model);
}

}  // namespace qtool
