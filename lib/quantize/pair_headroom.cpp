#include "quantize/pair_headroom.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/graph_view.h"
#include "model/wide_values.h"
#include "quantize/channel_input.h"
#include "quantize/pair_sums.h"
#include "quantize/tensor_overrides.h"

namespace qtool {
namespace {

const double kStep = std::exp2(1.0 / 8);
constexpr double kMost = 2;

template <typename Number>
double mean_square(std::span<const Number> values) {
  double sum = 0;
  for (const Number value : values) sum += double{value} * double{value};
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

/// The weight as planned before sums of pairs were looked at.
TensorPlan without_widening(TensorPlan weight) {
  for (std::size_t i = 0; i < weight.widening.size(); ++i)
    weight.params.scales[i] = static_cast<float>(weight.params.scales[i] / weight.widening[i]);
  weight.widening.clear();
  return weight;
}

/// A layer that multiplies with an activation and a constant weight.
struct Layer {
  const onnx::NodeProto& node;
  const TensorPlan& weight;
  Tensor values;
  double weight_square = 0;  ///< mean over the weight
  double input_square = 0;   ///< mean over the activation
  std::span<const float> maxima = {};

  /// Power of rounding in the weight by its own; scales share its values evenly.
  double noise_under(const TensorPlan& plan) const {
    return mean_square<float>(plan.params.scales) / 12 / weight_square;
  }
  double noise_for(const QuantParams& input) const {
    TensorPlan fitted = without_widening(weight);
    keep_sums_in_16_bits(node, values, {input, maxima}, fitted);
    return noise_under(fitted);
  }
};

/// An activation and all that rounds with its scale.
struct Group {
  std::vector<Layer> layers;
  std::size_t other_readers = 0;
};

class Search {
 public:
  Search(const Model& model, const onnx::GraphProto& graph, const GraphView* outer,
         const QuantPlan& plan, const ChannelStatistics& channels, const QuantizationConfig& config)
      : model_(model),
        graph_(graph, outer),
        plan_(plan),
        channels_(channels),
        config_(config),
        overrides_(config.extra_options) {}

  void add_to(Headroom& found) {
    std::map<int, Group> groups = groups_by_activation();
    for (auto& [root, group] : groups) {
      const TensorPlan& activation = plan_.tensors[static_cast<std::size_t>(root)];
      const double factor = best_factor(activation.params, group);
      if (factor > 1) found.emplace(activation.name, factor);
    }
    for (const BodyPlan& body : plan_.bodies) {
      Search(model_, body_graph(graph_.graph(), body), &graph_, body.plan, channels_, config_)
          .add_to(found);
    }
  }

 private:
  using Reader = std::pair<int, int>;  ///< node and slot

  int root_of(int index) const {
    while (plan_.tensors[static_cast<std::size_t>(index)].provider >= 0)
      index = plan_.tensors[static_cast<std::size_t>(index)].provider;
    return index;
  }

  std::map<int, Group> groups_by_activation() const {
    std::map<int, Group> groups;
    std::map<Reader, int> read;
    for (int index = 0; index < static_cast<int>(plan_.tensors.size()); ++index) {
      const TensorPlan& tensor = plan_.tensors[static_cast<std::size_t>(index)];
      if (tensor.role != TensorPlan::Role::Activation) continue;
      for (const Use& use : tensor.uses) read.emplace(Reader(use.node, use.slot), root_of(index));
    }
    for (const TensorPlan& tensor : plan_.tensors) {
      for (const Use& use : tensor.uses) {
        const auto input = read.find(Reader(use.node, 0));
        if (tensor.role != TensorPlan::Role::Constant || use.slot != 1 || input == read.end())
          continue;
        if (auto layer = layer_at(use, tensor))
          groups[input->second].layers.push_back(std::move(*layer));
      }
    }
    std::erase_if(groups, [&](const auto& group) { return !may_be_coarser(group.first); });
    for (const auto& [reader, root] : read) {
      const auto group = groups.find(root);
      const int node = reader.first;
      if (group != groups.end() && !is_layer(group->second, node) && !moves(node, root))
        ++group->second.other_readers;
    }
    return groups;
  }

  std::optional<Layer> layer_at(Use use, const TensorPlan& weight) const {
    const bool is_wider = std::ranges::any_of(weight.widening, [](double by) { return by > 1; });
    if (!is_wider) return std::nullopt;
    const onnx::NodeProto& node = graph_.node(use.node);
    const onnx::TensorProto& tensor = *graph_.initializer(weight.name);
    Layer out{.node = node, .weight = weight, .values = model_.tensor(tensor)};
    out.weight_square = mean_square(WideValues(out.values).get());
    if (const auto input = channel_input(node, tensor)) {
      const auto means = channels_.means.find(input->name);
      const auto peaks = channels_.peaks.find(input->name);
      if (means != channels_.means.end()) out.input_square = 2 * mean_square<double>(means->second);
      if (peaks != channels_.peaks.end()) out.maxima = peaks->second;
    }
    return out.weight_square > 0 && out.input_square > 0 ? std::optional(std::move(out))
                                                         : std::nullopt;
  }

  bool is_layer(const Group& group, int node) const {
    return std::ranges::any_of(
        group.layers, [&](const Layer& layer) { return &layer.node == &graph_.node(node); });
  }
  /// Whether the reader only moves values: its output has the same scale.
  bool moves(int node, int root) const {
    for (int index = 0; index < static_cast<int>(plan_.tensors.size()); ++index) {
      const TensorPlan& tensor = plan_.tensors[static_cast<std::size_t>(index)];
      if (tensor.provider >= 0 && root_of(index) == root && graph_.producer_of(tensor.name) == node)
        return true;
    }
    return false;
  }

  bool may_be_coarser(int root) const {
    const TensorPlan& tensor = plan_.tensors[static_cast<std::size_t>(root)];
    const bool is_rescaled = std::ranges::any_of(plan_.tensors, [&](const TensorPlan& other) {
      return other.source >= 0 && (root_of(other.source) == root || &other == &tensor);
    });
    // The quantizer does the work of a Clip by where it ends.
    const bool is_clipped = std::ranges::any_of(plan_.folded, [&](const FoldedNode& folded) {
      return folded.output == tensor.name && graph_.node(folded.node).op_type() != "Relu";
    });
    const bool is_one_sided =
        tensor.params.zero_points.front() == full_range(tensor.params.type).min;
    return tensor.value_type == ElementType::Float && is_one_sided && !is_rescaled && !is_clipped &&
           !overrides_.find(tensor.name);
  }

  static double rounding(const QuantParams& params, const Group& group) {
    const double step = params.scales.front();
    double out = 0, least = 0;
    for (const Layer& layer : group.layers) {
      const double noise = step * step / 12 / layer.input_square;
      out += noise;
      least = least == 0 ? noise : std::min(least, noise);
    }
    return out + least * static_cast<double>(group.other_readers);
  }

  static double best_factor(const QuantParams& params, const Group& group) {
    const double step_noise = rounding(params, group);
    double wide = 0, narrow = 0;
    for (const Layer& layer : group.layers) {
      wide += layer.noise_under(layer.weight);
      narrow += layer.noise_under(without_widening(layer.weight));
    }
    double best = 1, least = step_noise + wide;
    for (double factor = kStep; factor <= kMost * (1 + 1e-9); factor *= kStep) {
      if (step_noise * factor * factor + narrow >= least) break;
      const QuantParams coarser = with_headroom(params, factor);
      double noise = step_noise * factor * factor;
      for (const Layer& layer : group.layers) noise += layer.noise_for(coarser);
      if (noise < least) {
        least = noise;
        best = factor;
      }
    }
    return best;
  }

  const Model& model_;
  GraphView graph_;
  const QuantPlan& plan_;
  const ChannelStatistics& channels_;
  const QuantizationConfig& config_;
  TensorOverrides overrides_;
};

}  // namespace

Headroom headroom_for_pair_sums(const Model& model, const QuantPlan& plan,
                                const ChannelStatistics& channels,
                                const QuantizationConfig& config) {
  Headroom out;
  Search(model, model.graph(), nullptr, plan, channels, config).add_to(out);
  return out;
}

QuantParams with_headroom(QuantParams params, double factor) {
  params.scales.front() = static_cast<float>(params.scales.front() * factor);
  return params;
}

}  // namespace qtool
