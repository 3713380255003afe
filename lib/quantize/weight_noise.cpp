#include "quantize/weight_noise.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>

#include "base/some_of.h"
#include "base/text.h"
#include "kernels/min_max.h"
#include "model/channel_layout.h"
#include "model/graph_view.h"
#include "model/wide_values.h"
#include "quantize/params.h"

namespace qtool {
namespace {

/// Noise of half the amplitude will do where the result is added to a value that has none of it.
constexpr double kLeastBesideResidualDb = 6;

/// The step that the weight's values ask for. A larger one is a bias's doing, which scales per
/// channel do not help; a draft has none yet.
double step_of(std::span<const float> values, const QuantParams& params) {
  const kernels::MinMax ends = kernels::min_max(values);
  const double largest = std::max(std::abs(double{ends.min}), std::abs(double{ends.max}));
  const IntegerRange range = full_range(params.type);
  const double levels = static_cast<double>(range.max) - range.min;
  const double asked = 2 * largest / levels;
  return params.scales.empty() ? asked : std::min(double{params.scales.front()}, asked);
}

std::vector<double> channel_squares(std::span<const float> values, kernels::Channels channels) {
  std::vector<double> out(channels.count, 0.0);
  const float* value = values.data();
  for (std::size_t outer = 0; outer < channels.outer; ++outer) {
    for (double& sum : out) {
      for (std::size_t i = 0; i < channels.inner; ++i, ++value)
        sum += static_cast<double>(*value) * static_cast<double>(*value);
    }
  }
  return out;
}

/// The signal of each channel by the noise in it: a value that is at most half a step from its
/// integer is off by a step / sqrt(12) on average, and by no more than itself.
std::vector<double> channel_sqnr_db(const Tensor& weight, std::int64_t axis,
                                    const QuantParams& params) {
  const WideValues values(weight);
  const kernels::Channels channels = *channel_layout(weight.shape, axis);
  const double step = step_of(values.get(), params);
  const double noise =
      step * step / 12 * static_cast<double>(channels.outer) * static_cast<double>(channels.inner);
  std::vector<double> out;
  for (const double signal : channel_squares(values.get(), channels)) {
    if (signal > 0) out.push_back(10 * std::log10(signal / std::min(signal, noise)));
  }
  return out;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Search {
 public:
  Search(const Model& model, const Placement& placement) : model_(model), placement_(placement) {}

  void look_at(const GraphView& graph, const QuantPlan& plan) {
    for (const TensorPlan& tensor : plan.tensors) {
      if (tensor.role != TensorPlan::Role::Constant || tensor.params.axis ||
          tensor.params.block_size > 0 || is_float8(tensor.params.type))
        continue;
      for (const Use& use : tensor.uses) look_at(graph, tensor, use);
    }
    for (const BodyPlan& body : plan.bodies)
      look_at(GraphView(body_graph(graph.graph(), body), &graph), body.plan);
  }

  std::vector<NoisyWeight> worst_first() const {
    std::vector<NoisyWeight> out;
    for (const auto& [name, sqnr] : found_) out.push_back({name, sqnr});
    std::ranges::stable_sort(out, {}, &NoisyWeight::median_sqnr_db);
    return out;
  }

 private:
  /// The axis of output channels where `use` takes a weight.
  std::optional<std::int64_t> channel_axis(const GraphView& graph, Use use) const {
    const auto& node = graph.node(use.node);
    const OpRule* row = find_rule(placement_, node.op_type(), node.domain());
    if (row == nullptr) return std::nullopt;
    const NodeContext context{node, graph, model_, model_.opset()};
    const OpRule rule = row->refine ? row->refine(*row, context) : *row;
    if (rule.input(use.slot).role != InputRole::Weight) return std::nullopt;
    const auto& name = node.input(use.slot);
    const auto rank = static_cast<std::size_t>(graph.initializer(name)->dims_size());
    const std::int64_t axis = normalized_axis(rule.input(use.slot).channel_axis, rank);
    const bool is_axis = axis >= 0 && axis < static_cast<std::int64_t>(rank) && rank >= 2;
    return is_axis ? std::optional(axis) : std::nullopt;
  }

  /// Whether what `node` gives is added to another computed value, as in a residual block.
  static bool is_added_to_another(const GraphView& graph, const onnx::NodeProto& node) {
    const onnx::NodeProto* maker = &node;
    while (maker->output_size() == 1 && graph.uses_of(maker->output(0)).size() == 1) {
      const Use reader = graph.uses_of(maker->output(0)).front();
      maker = &graph.node(reader.node);
      const std::string& type = maker->op_type();
      const bool adds = type == "Add" && maker->input_size() == 2;
      if (adds && !graph.initializer(maker->input(1 - reader.slot))) return true;
      if (!adds && type != "Reshape" && type != "Transpose") return false;
    }
    return false;
  }

  void look_at(const GraphView& graph, const TensorPlan& tensor, Use use) {
    const auto axis = channel_axis(graph, use);
    if (!axis) return;
    const auto sqnr =
        median_sqnr_db(model_.tensor(*graph.initializer(tensor.name)), *axis, tensor.params);
    const double least =
        is_added_to_another(graph, graph.node(use.node)) ? kLeastBesideResidualDb : kLeastSqnrDb;
    if (sqnr && *sqnr < least) found_.try_emplace(tensor.name, *sqnr);
  }

  const Model& model_;
  const Placement& placement_;
  std::map<std::string, double> found_;
};

}  // namespace

std::optional<double> median_sqnr_db(const Tensor& weight, std::int64_t axis,
                                     const QuantParams& params) {
  const std::vector<double> of_channels = channel_sqnr_db(weight, axis, params);
  return of_channels.empty() ? std::nullopt : std::optional(median(of_channels));
}

std::vector<NoisyWeight> noisy_weights(const Model& model, const QuantPlan& plan,
                                       const Placement& placement) {
  Search search(model, placement);
  search.look_at(GraphView(model.graph()), plan);
  return search.worst_first();
}

std::string warning_of(const std::vector<NoisyWeight>& weights) {
  if (weights.empty()) return "";
  std::vector<std::string> names;
  for (const NoisyWeight& weight : weights)
    names.push_back(
        fmt::format("'{}' ({:.1f} dB)", printable(weight.name, 100), weight.median_sqnr_db));
  return fmt::format(
      "one scale per weight is too coarse for most channels of {}; use --per-channel",
      some_of(names));
}

}  // namespace qtool
