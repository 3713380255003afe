#include "quantize/ineffective_options.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "config/load.h"
#include "model/graph_view.h"
#include "model/messages.h"
#include "quantize/op_rules.h"

namespace qtool {
namespace {

using Role = TensorPlan::Role;

/// Goes through the options, one group after the other.
class Inspection {
 public:
  Inspection(const onnx::GraphProto& graph, const QuantPlan& plan, const QuantizationConfig& config,
             Preset preset);

  std::vector<std::string> run();

 private:
  void check_selection();
  void check_types();
  void check_symmetry();
  void check_pairs();
  void check_channels();
  void check_biases();
  void check_operators();
  void check_overrides();

  bool has_tensor(Role role) const {
    return any_tensor([&](const auto& t) { return t.role == role; });
  }
  template <typename Predicate>
  bool any_tensor(const Predicate& predicate) const {
    return std::ranges::any_of(tensors_,
                               [&](const TensorPlan* tensor) { return predicate(*tensor); });
  }
  bool is_qoperator() const { return config_.quant_format == QuantFormat::QOperator; }
  bool quantizes_any(std::initializer_list<std::string_view> op_types) const;
  bool has_axis(const std::string& op_type) const;
  bool depends_on_input(const std::string& op_type) const;
  std::vector<std::string> not_among(const std::vector<std::string>& op_types,
                                     const std::set<std::string, std::less<>>& present) const;
  std::string obstacle_of_override(const std::string& tensor) const;

  void note(const std::string& key, const std::string& reason) {
    lines_.push_back(fmt::format("quantization.{}: has no effect: {}", key, reason));
  }
  void note_extra(const std::string& key, const std::string& reason) {
    note("extra_options." + key, reason);
  }

  const onnx::GraphProto& graph_;
  const QuantPlan& plan_;
  std::vector<const TensorPlan*> tensors_;  ///< of the plan and of all bodies
  const QuantizationConfig& config_;
  const ExtraOptions& options_;
  const ExtraOptions defaults_;  ///< of the preset
  const Placement& placement_;
  bool follows_onnxruntime_;
  std::set<std::string, std::less<>> op_types_;   ///< of all nodes, bodies included
  std::set<std::string, std::less<>> quantized_;  ///< of nodes that the plan quantizes
  std::vector<std::string> lines_;
};

Inspection::Inspection(const onnx::GraphProto& graph, const QuantPlan& plan,
                       const QuantizationConfig& config, Preset preset)
    : graph_(graph),
      plan_(plan),
      tensors_(all_tensors(plan)),
      config_(config),
      options_(config.extra_options),
      defaults_(preset_defaults(preset, CalibrationMethod::MinMax).quantization.extra_options),
      placement_(placement_for(preset)),
      follows_onnxruntime_(preset == Preset::OnnxRuntime) {
  for_each_graph(graph, [&](const onnx::GraphProto& each) {
    for (const auto& node : each.node()) op_types_.insert(node.op_type());
  });
  for_each_plan(graph, plan, [&](const onnx::GraphProto& each, const QuantPlan& of_each) {
    for (const int index : of_each.quantized_nodes) quantized_.insert(each.node(index).op_type());
  });
}

std::vector<std::string> Inspection::run() {
  if (tensors_.empty()) return {};
  check_selection();
  check_types();
  check_symmetry();
  check_pairs();
  check_channels();
  check_biases();
  check_operators();
  check_overrides();
  return std::move(lines_);
}

bool Inspection::quantizes_any(std::initializer_list<std::string_view> op_types) const {
  return std::ranges::any_of(op_types,
                             [&](std::string_view type) { return quantized_.contains(type); });
}

std::vector<std::string> Inspection::not_among(
    const std::vector<std::string>& op_types,
    const std::set<std::string, std::less<>>& present) const {
  std::vector<std::string> out;
  for (const std::string& type : op_types) {
    if (!present.contains(type)) out.push_back(in_quotes(type));
  }
  return out;
}

void Inspection::check_selection() {
  const auto check = [&](const char* key, const std::vector<std::string>& op_types) {
    const auto absent = not_among(op_types, op_types_);
    if (!absent.empty())
      note(key, fmt::format("the model that is quantized has no {}", join(absent)));
  };
  check("op_types_to_quantize", config_.op_types_to_quantize);
  check("op_types_to_exclude", config_.op_types_to_exclude);
}

void Inspection::check_types() {
  const bool has_constants = has_tensor(Role::Constant);
  if (config_.reduce_range && !has_constants) note("reduce_range", "no constant is quantized");
  const bool is_uint8 = any_tensor([](const TensorPlan& tensor) {
    return tensor.role == Role::Activation && tensor.params.type == ElementType::UInt8;
  });
  if (!options_.activation_restricted_asymmetric) return;
  if (options_.activation_symmetric.value_or(false)) {
    note_extra("ActivationRestrictedAsymmetric", "activations are symmetric");
  } else if (!is_uint8) {
    note_extra("ActivationRestrictedAsymmetric", "no activation is uint8");
  }
}

void Inspection::check_symmetry() {
  const bool has_float8 = config_.activation_type == QuantType::Float8E4M3FN;
  if (options_.activation_symmetric.value_or(false) && has_float8)
    note_extra("ActivationSymmetric", "float8 has no zero point");
  if (options_.minimum_real_range && has_float8)
    note_extra("MinimumRealRange", "float8 is scaled by the spread of values");
  // One scale per channel makes weights symmetric whatever the option says.
  const bool can_choose = any_tensor([](const TensorPlan& tensor) {
    const bool is_per_channel = tensor.params.axis && tensor.params.block_size == 0;
    return tensor.role == Role::Constant && !is_per_channel;
  });
  if (options_.weight_symmetric && !can_choose)
    note_extra("WeightSymmetric", has_tensor(Role::Constant)
                                      ? "weights with a scale per channel are symmetric"
                                      : "no weight is quantized");
}

void Inspection::check_pairs() {
  const auto check = [&](bool is_set, const char* key, bool has_effect, const char* reason) {
    if (!is_set) return;
    if (is_qoperator()) {
      note_extra(key, "format QOperator");
    } else if (!has_effect) {
      note_extra(key, reason);
    }
  };
  check(options_.dedicated_qdq_pair, "DedicatedQDQPair",
        any_tensor([](const TensorPlan& tensor) { return tensor.has_pair_per_reader; }),
        "no quantized value has several readers");
  check(options_.add_qdq_pair_to_weight, "AddQDQPairToWeight",
        any_tensor([](const TensorPlan& tensor) { return tensor.keeps_float; }),
        "no weight is quantized");
  check(options_.use_qdq_contrib_ops, "UseQDQContribOps", true, "");
}

/// Whether a weight of a node of that type has a scale per channel.
bool Inspection::has_axis(const std::string& op_type) const {
  bool found = false;
  for_each_plan(graph_, plan_, [&](const onnx::GraphProto& graph, const QuantPlan& plan) {
    const auto is_of_type = [&](const Use& use) {
      return graph.node(use.node).op_type() == op_type;
    };
    found |= std::ranges::any_of(plan.tensors, [&](const TensorPlan& tensor) {
      return tensor.role == Role::Constant && tensor.params.axis &&
             std::ranges::any_of(tensor.uses, is_of_type);
    });
  });
  return found;
}

void Inspection::check_channels() {
  constexpr const char* kAxes = "QDQOpTypePerChannelSupportToAxis";
  const std::set<std::string, std::less<>> read_by_peer{
      "BatchNormalization", "InstanceNormalization", "LayerNormalization", "MatMul"};
  for (const auto& [op_type, axis] : options_.qdq_op_type_per_channel_support_to_axis) {
    const std::string type = in_quotes(op_type);
    if (!op_types_.contains(op_type)) {
      note_extra(kAxes, fmt::format("the model has no {}", type));
    } else if (follows_onnxruntime_ && !read_by_peer.contains(op_type)) {
      note_extra(kAxes, fmt::format("preset onnxruntime does not read it for {}", type));
    } else if (!has_axis(op_type)) {
      note_extra(kAxes, fmt::format("no weight of {} has a scale per channel", type));
    }
  }
  const bool has_blocks =
      any_tensor([](const TensorPlan& tensor) { return tensor.params.block_size > 0; });
  if (options_.block_size > 0 && !has_blocks) note_extra("BlockSize", "no weight has blocks");
  const bool is_default = config_.per_channel != follows_onnxruntime_;
  const bool has_channels = any_tensor(
      [](const TensorPlan& tensor) { return tensor.role == Role::Constant && tensor.params.axis; });
  if (config_.per_channel && !is_default && !has_channels)
    note("per_channel", "no quantized weight has channels");
}

void Inspection::check_biases() {
  if (!options_.quantize_bias && defaults_.quantize_bias &&
      !quantizes_any({"BatchNormalization", "Conv", "ConvTranspose", "Gemm",
                      "InstanceNormalization", "LayerNormalization"}))
    note_extra("QuantizeBias", "no quantized operator has a bias");
  if (options_.qdq_disable_weight_adjust_for_int32_bias && !has_tensor(Role::Bias))
    note_extra("QDQDisableWeightAdjustForInt32Bias", "no bias is quantized");
}

/// Whether operators of that type take part only where their input is quantized.
bool Inspection::depends_on_input(const std::string& op_type) const {
  const OpRule* rule = find_rule(placement_, op_type, "");
  return rule && rule->outputs != OutputParams::FoldedIntoProducer &&
         rule->entry != Entry::Always && rule->entry != Entry::OutputRead;
}

void Inspection::check_operators() {
  const bool has_movers = std::ranges::any_of(
      op_types_, [&](const std::string& type) { return depends_on_input(type); });
  if (options_.force_quantize_no_input_check && !defaults_.force_quantize_no_input_check &&
      !has_movers)
    note_extra("ForceQuantizeNoInputCheck", "no operator of the model depends on its input");
  if (options_.qdq_keep_removable_activations && !quantizes_any({"Clip", "Relu"}))
    note_extra("QDQKeepRemovableActivations", "no Relu or Clip is quantized");
  const auto unread = not_among(options_.op_types_to_exclude_output_quantization, quantized_);
  if (!unread.empty()) {
    note_extra("OpTypesToExcludeOutputQuantization",
               fmt::format("no {} is quantized", join(unread)));
  }
  for (const std::string& type : options_.op_types_to_exclude_output_quantization) {
    const bool is_unread = type == "Gather" || type == "GatherElements";
    if (is_unread && quantized_.contains(type) && follows_onnxruntime_ && !is_qoperator())
      note_extra("OpTypesToExcludeOutputQuantization",
                 fmt::format("preset onnxruntime does not read it for {}", in_quotes(type)));
  }
  const bool forms_of_peer = is_qoperator() && follows_onnxruntime_;
  const auto check_peer_form = [&](bool is_set, const char* key,
                                   std::initializer_list<std::string_view> op_types) {
    if (!is_set) return;
    if (!forms_of_peer) {
      note_extra(key, is_qoperator() ? "only preset onnxruntime reads it" : "format QDQ");
    } else if (std::ranges::none_of(op_types,
                                    [&](auto type) { return op_types_.contains(type); })) {
      note_extra(key, fmt::format("the model has no {}", *op_types.begin()));
    }
  };
  check_peer_form(options_.mat_mul_const_b_only.value_or(false), "MatMulConstBOnly",
                  {"MatMul", "Gemm"});
  check_peer_form(options_.sigmoid_nnapi, "extra.Sigmoid.nnapi", {"Sigmoid"});
  if (options_.enable_subgraph && !has_subgraphs(graph_))
    note_extra("EnableSubgraph", "the model has no subgraph");
  if (options_.default_tensor_type)
    note_extra("DefaultTensorType", "types are inferred, also of ONNX Runtime's own operators");
  if (options_.smooth_quant) return;
  if (options_.smooth_quant_alpha != ExtraOptions{}.smooth_quant_alpha)
    note_extra("SmoothQuantAlpha", "SmoothQuant is off");
  if (!options_.smooth_quant_folding) note_extra("SmoothQuantFolding", "SmoothQuant is off");
}

/// Why what an override says of a tensor is not heard; empty where it is.
std::string Inspection::obstacle_of_override(const std::string& tensor) const {
  std::string obstacle = "is not quantized";
  bool is_found = false;
  for_each_plan(graph_, plan_, [&](const onnx::GraphProto&, const QuantPlan& plan) {
    const auto found = std::ranges::find_if(plan.tensors, [&](const TensorPlan& each) {
      return each.name == tensor || each.initializer == tensor;
    });
    if (is_found || found == plan.tensors.end()) return;
    is_found = true;
    const bool is_shared =
        found->role == Role::Activation && found->provider >= 0 && !found->conversion;
    obstacle = found->role == Role::Bias ? "is a bias, and int32" : "";
    if (is_shared) {
      const TensorPlan& provider = plan.tensors[static_cast<std::size_t>(found->provider)];
      obstacle = fmt::format("has the scale of {}", in_quotes(provider.name));
    }
  });
  return obstacle;
}

void Inspection::check_overrides() {
  for (const auto& [tensor, channels] : options_.tensor_quant_overrides) {
    const std::string obstacle =
        channels.empty() ? "has an empty list" : obstacle_of_override(tensor);
    if (!obstacle.empty())
      note_extra("TensorQuantOverrides", fmt::format("{} {}", in_quotes(tensor), obstacle));
  }
}

}  // namespace

std::vector<std::string> ineffective_options(const onnx::GraphProto& graph, const QuantPlan& plan,
                                             const QuantizationConfig& config, Preset preset) {
  return Inspection(graph, plan, config, preset).run();
}

}  // namespace qtool
