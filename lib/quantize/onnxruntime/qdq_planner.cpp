#include "quantize/onnxruntime/qdq_planner.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "quantize/activation_params.h"
#include "quantize/constants.h"
#include "quantize/needed_opset.h"
#include "quantize/onnxruntime/bias_plans.h"
#include "quantize/onnxruntime/marking.h"
#include "quantize/schemes.h"

namespace qtool {
namespace {

using Role = TensorPlan::Role;
using Entry = TensorMarks::Entry;

/// Makes the plans of marked tensors: first those with a scale of their own, then those that share
/// one, then the biases.
class QdqPlanner {
 public:
  QdqPlanner(const Model& model, const TensorRanges* ranges, const QuantizationConfig& config)
      : model_(model),
        config_(config),
        graph_(model.graph()),
        overrides_(config.extra_options),
        nodes_(select_nodes(graph_, config)),
        ranges_(graph_, ranges, config, [this](int index) {
          return static_cast<bool>(nodes_.takes_part[static_cast<std::size_t>(index)]);
        }) {}

  QuantPlan plan();
  std::vector<std::string>& measured() { return measured_; }

 private:
  void plan_own(const Entry& entry);
  void plan_shared(std::vector<Entry> shared);
  bool place_shared(const Entry& entry);
  void plan_activation(const std::string& name);
  void plan_constant(const Entry& entry);
  void add_activation(const std::string& name, QuantParams params, std::string derivation);
  void set_readers(TensorPlan& plan, const TensorOverride* override);
  std::optional<Range> range_of(const std::string& name);
  std::string activation_obstacle(const std::string& name) const;
  void skip(const std::string& name, std::string reason);

  const Model& model_;
  const QuantizationConfig& config_;
  GraphView graph_;
  TensorOverrides overrides_;
  NodeSelection nodes_;
  RangeSources ranges_;
  Marking marking_;
  std::unordered_set<std::string> folded_;  ///< outputs of Relu and Clip nodes that go
  QuantPlan plan_;
  std::unordered_map<std::string, int> placed_;
  ZeroChannels zero_channels_;
  std::vector<std::string> measured_;
};

QuantPlan QdqPlanner::plan() {
  plan_.convention = Convention::OnnxRuntime;
  marking_ = mark_tensors({model_, graph_, config_, overrides_, ranges_}, nodes_);
  for (const FoldedNode& folded : marking_.folded) folded_.insert(folded.output);
  std::vector<Entry> shared;
  for (Entry& entry : marking_.tensors.entries()) {
    if (entry.mark.provider.empty()) {
      plan_own(entry);
    } else {
      shared.push_back(std::move(entry));
    }
  }
  plan_shared(std::move(shared));
  plan_.folded = std::move(marking_.folded);
  plan_.skipped.insert(plan_.skipped.end(), marking_.skipped.begin(), marking_.skipped.end());
  plan_.quantized_nodes = std::move(marking_.quantized_nodes);
  for (const TensorPlan& tensor : plan_.tensors) {
    if (tensor.role != Role::Activation && graph_.is_graph_input(tensor.name))
      plan_.warnings.push_back(fmt::format(
          "input '{}' has a default, which is quantized: callers can no longer replace it",
          tensor.name));
  }
  if (!ranges_.is_draft())
    plan_biases_as_onnxruntime(model_, graph_, marking_.biases, placed_, zero_channels_, config_,
                               plan_);
  plan_.qdq_domain = qdq_domain(plan_, config_, model_.opset());
  return std::move(plan_);
}

void QdqPlanner::skip(const std::string& name, std::string reason) {
  const int producer = graph_.producer_of(name);
  const auto uses = graph_.uses_of(name);
  const int index = producer >= 0 || uses.empty() ? producer : uses.front().node;
  if (index < 0) return;
  const auto& node = graph_.node(index);
  plan_.skipped.push_back({index, node.name(), node.op_type(), name, std::move(reason)});
}

void QdqPlanner::plan_own(const Entry& entry) {
  if (graph_.initializer(entry.name)) {
    plan_constant(entry);
  } else {
    plan_activation(entry.name);
  }
}

/// Why no Q/DQ pair can stand on a computed value; empty where one can.
std::string QdqPlanner::activation_obstacle(const std::string& name) const {
  const int producer = graph_.producer_of(name);
  if (producer >= 0 && graph_.node(producer).op_type() == "DequantizeLinear")
    return "is quantized already";
  const auto uses = graph_.uses_of(name);
  const bool is_quantized = std::ranges::any_of(uses, [&](const Use& use) {
    return graph_.node(use.node).op_type() == "QuantizeLinear" && use.slot == 0;
  });
  return is_quantized ? "is quantized already" : "";
}

std::optional<Range> QdqPlanner::range_of(const std::string& name) {
  if (const auto measured = ranges_.measured(name); measured && ranges_.is_draft())
    measured_.push_back(*measured);
  return ranges_.range(name);
}

void QdqPlanner::plan_activation(const std::string& name) {
  if (const std::string quantized = activation_obstacle(name); !quantized.empty())
    return skip(name, quantized);
  const auto range = range_of(name);
  if (!range)
    return skip(name, "has no range: calibration found no value in it, or one that is not finite");
  const TensorOverride* override = overrides_.find(name);
  const ElementType type = graph_.type_of(name);
  const ElementType stored = activation_scheme(config_, override, type).type;
  std::string obstacle = obstacle_by_readers(graph_, name, stored);
  if (obstacle.empty() && !folded_.contains(name))
    obstacle = obstacle_by_maker(graph_, name, stored);
  if (!obstacle.empty()) return skip(name, obstacle);
  add_activation(name, activation_params(*range, config_, override, type),
                 ranges_.measured(name) ? "measured" : "[0,1]");
  if (override && override->convert) {
    plan_.tensors.back().conversion->params =
        conversion_params(*range, config_, *override->convert, type);
  }
}

void QdqPlanner::add_activation(const std::string& name, QuantParams params,
                                std::string derivation) {
  TensorPlan plan{.name = name,
                  .role = Role::Activation,
                  .params = std::move(params),
                  .value_type = graph_.type_of(name),
                  .derivation = std::move(derivation)};
  set_readers(plan, overrides_.find(name));
  placed_[name] = static_cast<int>(plan_.tensors.size());
  plan_.tensors.push_back(std::move(plan));
}

/// Who reads the dequantized value, and who its conversion.
void QdqPlanner::set_readers(TensorPlan& plan, const TensorOverride* override) {
  plan.replaces_value = graph_.is_graph_output(plan.name);
  const auto all = graph_.uses_of(plan.name);
  const std::vector<Use>& readers = marking_.readers[plan.name];
  if (override && override->convert) {
    plan.conversion.emplace();
    for (const Use& use : readers) {
      const bool converts = receives_conversion(*override->convert, graph_.node(use.node));
      (converts ? plan.conversion->uses : plan.uses).push_back(use);
    }
    plan.conversion->replaces_value = plan.uses.empty();
    return;
  }
  const bool is_shared = std::ranges::any_of(
      readers, [&](const Use& use) { return use.node != readers.front().node; });
  if (config_.extra_options.dedicated_qdq_pair && is_shared) {
    plan.has_pair_per_reader = true;
    plan.replaces_value = false;
    plan.uses = readers;
    return;
  }
  plan.uses.assign(all.begin(), all.end());
}

void QdqPlanner::plan_constant(const Entry& entry) {
  const std::string& name = entry.name;
  const onnx::TensorProto& tensor = *graph_.initializer(name);
  const std::int64_t block_size = config_.extra_options.block_size;
  const TensorOverride* override = overrides_.find(name);
  ScaleSharing sharing{.axis = entry.mark.axis};
  if (override && override->axis) {
    sharing.axis = normalized_axis(*override->axis, static_cast<std::size_t>(tensor.dims_size()));
  }
  const bool is_per_channel = sharing.axis.has_value();
  const ConstantUse use = entry.mark.is_weight ? ConstantUse::Weight : ConstantUse::Operand;
  const QuantScheme scheme =
      constant_scheme(config_, override, use, is_per_channel, element_type(tensor));
  if (entry.mark.is_weight && block_size > 0 && tensor.dims_size() == 2) {
    sharing = {.axis = sharing.axis.value_or(0), .block_size = block_size};
  }
  ConstantParams found{.params = {.type = scheme.type,
                                  .scales = {},
                                  .zero_points = {},
                                  .axis = sharing.axis,
                                  .block_size = sharing.block_size}};
  if (!ranges_.is_draft()) {
    auto params = constant_params(model_.tensor(tensor), sharing, scheme,
                                  given_params(overrides_.channels(name)));
    if (!params) {
      plan_.warnings.push_back(fmt::format("'{}' holds NaN or infinity and stays in float", name));
      return skip(name, "holds NaN or infinity");
    }
    found = std::move(*params);
  }
  const auto uses = graph_.uses_of(name);
  const int at = static_cast<int>(plan_.tensors.size());
  placed_[name] = at;
  zero_channels_[at] = std::move(found.is_zero);
  plan_.tensors.push_back({.name = name,
                           .role = Role::Constant,
                           .params = std::move(found.params),
                           .uses = {uses.begin(), uses.end()},
                           .keeps_float = config_.extra_options.add_qdq_pair_to_weight,
                           .value_type = element_type(tensor),
                           .derivation = "constant"});
}

/// Places each as soon as its provider is; what is left then has no provider that ever will be.
void QdqPlanner::plan_shared(std::vector<Entry> shared) {
  for (bool has_progress = true; has_progress;) {
    has_progress = false;
    std::vector<Entry> waiting;
    for (Entry& entry : shared) {
      if (place_shared(entry)) {
        has_progress = true;
      } else {
        waiting.push_back(std::move(entry));
      }
    }
    shared = std::move(waiting);
    if (has_progress || shared.empty()) continue;
    // The first gets a scale of its own, and may be the provider of others.
    plan_activation(shared.front().name);
    shared.erase(shared.begin());
    has_progress = true;
  }
}

bool QdqPlanner::place_shared(const Entry& entry) {
  const auto found = placed_.find(entry.mark.provider);
  if (found == placed_.end()) return false;
  if (const std::string obstacle = activation_obstacle(entry.name);
      graph_.initializer(entry.name) || !obstacle.empty()) {
    skip(entry.name, obstacle.empty() ? "is a constant" : obstacle);
    return true;
  }
  const TensorPlan& provider = plan_.tensors[static_cast<std::size_t>(found->second)];
  // The scales of channels mean nothing on another axis, and who says that it is the same?
  if (provider.params.axis) {
    plan_activation(entry.name);
    return true;
  }
  const auto reads = [&](const Use& use) { return use.node == entry.mark.reader; };
  const bool is_converted =
      provider.conversion && std::ranges::any_of(provider.conversion->uses, reads);
  const bool sees_conversion = is_converted || provider.shares_conversion;
  const int root = provider.provider >= 0 && !is_converted ? provider.provider : found->second;
  QuantParams params = is_converted ? provider.conversion->params : provider.params;
  const std::string derivation = "as " + plan_.tensors[static_cast<std::size_t>(root)].name;
  const TensorOverride* override = overrides_.find(entry.name);
  add_activation(entry.name, std::move(params), derivation);
  plan_.tensors.back().provider = root;
  plan_.tensors.back().shares_conversion = sees_conversion;
  if (override && override->convert) {
    const auto range = range_of(entry.name);
    plan_.tensors.back().conversion->params = conversion_params(
        range.value_or(Range{0, 1}), config_, *override->convert, graph_.type_of(entry.name));
  }
  return true;
}

}  // namespace

QuantPlan plan_qdq_as_onnxruntime(const Model& model, const TensorRanges* ranges,
                                  const QuantizationConfig& config) {
  return QdqPlanner(model, ranges, config).plan();
}

std::vector<std::string> tensors_measured_by_onnxruntime(const Model& model,
                                                         const QuantizationConfig& config) {
  QdqPlanner planner(model, nullptr, config);
  planner.plan();
  std::vector<std::string> out;
  std::unordered_set<std::string> seen;
  for (std::string& name : planner.measured()) {
    if (seen.insert(name).second) out.push_back(std::move(name));
  }
  return out;
}

}  // namespace qtool
