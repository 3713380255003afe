#include "quantize/onnxruntime/dynamic_plan.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <utility>

#include "quantize/dynamic/rules.h"
#include "quantize/node_filter.h"
#include "quantize/size_nodes.h"

namespace qtool {
namespace {

using Form = DynamicNode::Form;
using Constant = GraphScopes::Constant;

constexpr std::int64_t kFirstWithAxis = 13;     // of DequantizeLinear
constexpr std::int64_t kFirstWithFloat16 = 19;  // the same

// The operators of the peer.
constexpr std::string_view kMicrosoft = "com.microsoft";
constexpr auto kRows =
    std::to_array<OpRule>({{.op_type = "Attention", .domain = kMicrosoft},
                           {.op_type = "Conv"},
                           {.op_type = "EmbedLayerNormalization", .domain = kMicrosoft},
                           {.op_type = "Gather"},
                           {.op_type = "LSTM"},
                           {.op_type = "MatMul"},
                           {.op_type = "Transpose"}});
constexpr Placement kPlacement{.rules = kRows, .follows_onnxruntime = true};

bool is_quantizable(ElementType type) {
  return type == ElementType::Float || type == ElementType::Float16;
}

bool is_signed(ElementType type) { return type == ElementType::Int8; }

/// How an operator wants a constant.
struct Wish {
  bool is_weight = false;                 ///< else of the activations' type, uint8
  std::optional<std::int64_t> axis = {};  ///< of the channels, where they have a scale each
};

/// The walk over the nodes of all graphs in order. A tensor that is in integers stays so: whoever
/// comes later reads these, or a DequantizeLinear of them.
class PeerWalk {
 public:
  PeerWalk(const Model& model, const GemmDecomposition& gemms, const QuantizationConfig& config)
      : model_(model), gemms_(gemms), config_(config), weights_(model, config) {}

  DynamicPlan run() {
    plan_.convention = Convention::OnnxRuntime;
    plan(model_.graph());
    plan_.weights = weights_.take();
    return std::move(plan_);
  }

 private:
  /// Integers of a value: those of a weight, or moved from there.
  struct Integers {
    int weight = -1;
    bool is_weight_itself = true;
  };

  void plan(const onnx::GraphProto& graph);
  std::string quantize(const NodeFilter& filter, const onnx::NodeProto& node, DynamicNode& out);
  bool passes(const NodeFilter& filter, const onnx::NodeProto& node, std::string& reason) const;
  void keep(const onnx::NodeProto& node, int index, const std::string& reason);
  void read_in_float(const std::string& name);

  std::string product(const onnx::NodeProto& node, DynamicNode& out);
  std::string convolution(const onnx::NodeProto& node, DynamicNode& out);
  std::string lstm(const onnx::NodeProto& node, DynamicNode& out);
  std::string attention(const onnx::NodeProto& node, DynamicNode& out);
  std::string embedding(const onnx::NodeProto& node, DynamicNode& out);
  std::string gather(const onnx::NodeProto& node, DynamicNode& out);
  std::string transpose(const onnx::NodeProto& node, DynamicNode& out);

  void begin(const onnx::NodeProto& node, Form form, DynamicNode& out) const;
  std::string read(const std::string& name, const Wish& wish, int& input);
  int constant(const std::string& name, const Constant& found, const Wish& wish);
  QuantScheme scheme_of(const std::string& name, const Wish& wish, ElementType value_type) const;
  std::string override_name(const std::string& tensor) const;
  bool serves(const Integers& integers, const Wish& wish) const;
  const Integers* integers_of(const std::string& name) const;
  bool is_float(const std::string& name) const { return is_quantizable(scopes_.type_of(name)); }
  bool is_constant_float(const std::string& name) const {
    const auto found = scopes_.constant(name);
    return found && is_quantizable(element_type(*found->tensor)) &&
           (config_.extra_options.enable_subgraph || found->graph == scopes_.number());
  }

  const Model& model_;
  const GemmDecomposition& gemms_;
  const QuantizationConfig& config_;
  WeightStore weights_;
  GraphScopes scopes_;
  std::map<std::string, Integers> integers_;
  DynamicPlan plan_;
};

void PeerWalk::plan(const onnx::GraphProto& graph) {
  scopes_.enter(graph);
  const auto number = plan_.graphs.size();
  plan_.graphs.emplace_back();
  const NodeFilter filter(graph, config_, kPlacement);
  const std::vector<bool> computes_size = size_nodes(scopes_.innermost());
  const bool is_left = number > 0 && !config_.extra_options.enable_subgraph;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto& node = graph.node(i);
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) plan(attribute.g());
      for (const auto& each : attribute.graphs()) plan(each);
    }
    DynamicNode planned{.node = i, .inputs = {}};
    const std::string reason = is_left ? "lies in a subgraph, and EnableSubgraph is off"
                               : computes_size[static_cast<std::size_t>(i)]
                                   ? "computes sizes, which rounding would change"
                                   : quantize(filter, node, planned);
    if (!reason.empty()) {
      keep(node, i, reason);
      continue;
    }
    ++plan_.forms[{node.op_type(), planned.form}];
    plan_.graphs[number].push_back(std::move(planned));
    ++plan_.quantized_nodes;
  }
  for (const auto& output : graph.output()) read_in_float(output.name());
  scopes_.leave();
}

std::string PeerWalk::quantize(const NodeFilter& filter, const onnx::NodeProto& node,
                               DynamicNode& out) {
  std::string reason;
  if (!passes(filter, node, reason)) return reason;
  const std::string& type = node.op_type();
  if (node.input_size() == 0) return "has no input";
  if (type == "MatMul") return product(node, out);
  if (type == "Conv") return convolution(node, out);
  if (type == "LSTM") return lstm(node, out);
  if (type == "Attention") return attention(node, out);
  if (type == "EmbedLayerNormalization") return embedding(node, out);
  if (type == "Gather") return gather(node, out);
  if (type == "Transpose") return transpose(node, out);
  return "the operator has no form that is quantized at run time";
}

/// The part of a Gemm goes by the Gemm's name and type as well as by its own.
bool PeerWalk::passes(const NodeFilter& filter, const onnx::NodeProto& node,
                      std::string& reason) const {
  if (filter.rule_for(node, reason) != nullptr) return true;
  const auto gemm =
      node.output_size() > 0 ? gemms_.node_of.find(node.output(0)) : gemms_.node_of.end();
  if (gemm == gemms_.node_of.end() || reason == "is in nodes_to_exclude") return false;
  const auto& types = config_.op_types_to_quantize;
  const bool has_type = types.empty() || std::ranges::count(types, "Gemm") > 0 ||
                        std::ranges::count(types, "MatMul") > 0;
  const auto& names = config_.nodes_to_quantize;
  const bool has_name = names.empty() || std::ranges::count(names, node.name()) > 0 ||
                        std::ranges::count(names, gemm->second) > 0;
  return has_type && has_name;
}

void PeerWalk::keep(const onnx::NodeProto& node, int index, const std::string& reason) {
  for (const auto& name : node.input()) read_in_float(name);
  plan_.left.push_back({index, display_name(node), node.op_type(), "", reason});
}

/// A constant that exists in integers by now is dequantized for all its float readers, where
/// DequantizeLinear can.
void PeerWalk::read_in_float(const std::string& name) {
  const Integers* integers = integers_of(name);
  if (integers == nullptr || !integers->is_weight_itself) return;
  StoredWeight& weight = weights_.at(integers->weight);
  const bool has_operator = !weight.params.axis || model_.opset() >= kFirstWithAxis;
  const bool has_type =
      weight.value_type == ElementType::Float || model_.opset() >= kFirstWithFloat16;
  if (has_operator && has_type) weight.replaces_value = true;
}

const PeerWalk::Integers* PeerWalk::integers_of(const std::string& name) const {
  const auto found = integers_.find(name);
  return found == integers_.end() ? nullptr : &found->second;
}

void PeerWalk::begin(const onnx::NodeProto& node, Form form, DynamicNode& out) const {
  out.form = form;
  out.value_type = scopes_.type_of(node.input(0));
  if (!is_quantizable(out.value_type) && node.input_size() > 1)
    out.value_type = scopes_.type_of(node.input(1));
  out.inputs.assign(static_cast<std::size_t>(node.input_size()), DynamicNode::kAsIs);
}

/// Whether integers made for another reader are right for this one too.
bool PeerWalk::serves(const Integers& integers, const Wish& wish) const {
  const QuantParams& params = weights_.at(integers.weight).params;
  return !params.axis || (params.axis == wish.axis && integers.is_weight_itself);
}

/// Which integers a node reads for `name`, in `input`; a reason where there can be none.
std::string PeerWalk::read(const std::string& name, const Wish& wish, int& input) {
  if (const Integers* known = integers_of(name); known && serves(*known, wish)) {
    input = known->is_weight_itself ? known->weight : DynamicNode::kAtRunTime;
    return "";
  }
  const auto found = scopes_.constant(name);
  input = found ? constant(name, *found, wish) : DynamicNode::kAtRunTime;
  if (found && input < 0) return fmt::format("'{}' cannot be quantized", name);
  return "";
}

int PeerWalk::constant(const std::string& name, const Constant& found, const Wish& wish) {
  const ElementType type = element_type(*found.tensor);
  if (!is_quantizable(type)) return -1;
  WeightSpec spec;
  spec.override_name = override_name(name);
  spec.scheme = scheme_of(name, wish, ElementType::Float);
  // A scale in float16 is one that DequantizeLinear can use.
  const bool is_operand = !wish.is_weight && model_.opset() >= kFirstWithFloat16;
  if (is_operand) spec.scheme.value_type = type;
  if (wish.axis) {
    spec.first_channel_axis = *wish.axis;
    spec.channel_axis_count = 1;
  }
  const int index = weights_.add(found, spec);
  if (index >= 0) integers_.try_emplace(name, Integers{index, true});
  return index;
}

std::string PeerWalk::override_name(const std::string& tensor) const {
  const auto source = gemms_.source_of.find(tensor);
  return source == gemms_.source_of.end() ? tensor : source->second;
}

QuantScheme PeerWalk::scheme_of(const std::string& name, const Wish& wish,
                                ElementType value_type) const {
  const TensorOverride* override = weights_.override_of(override_name(name));
  const ElementType weights = element_type(config_.weight_type);
  QuantScheme scheme{.type = wish.is_weight ? weights : ElementType::UInt8,
                     .is_reduced = wish.is_weight && config_.reduce_range,
                     .minimum_real_range = config_.extra_options.minimum_real_range,
                     .value_type = value_type};
  if (override && override->quant_type) scheme.type = element_type(*override->quant_type);
  const bool counts_as_weight = wish.axis || scheme.type == weights;
  scheme.is_symmetric =
      counts_as_weight ? config_.extra_options.weight_symmetric.value_or(is_signed(scheme.type))
                       : config_.extra_options.activation_symmetric.value_or(false);
  if (override == nullptr) return scheme;
  scheme.is_symmetric = override->symmetric.value_or(scheme.is_symmetric);
  scheme.is_reduced = override->reduce_range.value_or(scheme.is_reduced);
  return scheme;
}

std::string PeerWalk::product(const onnx::NodeProto& node, DynamicNode& out) {
  const std::string &a = node.input(0), &b = node.input(1);
  if (!is_float(a) && !is_float(b)) return "its inputs are not known to be float";
  const auto weight = scopes_.constant(b);
  if (config_.extra_options.mat_mul_const_b_only.value_or(true) && !weight)
    return "its second input is not constant";
  begin(node, Form::Product, out);
  std::string obstacle = read(a, {}, out.inputs[0]);
  if (!obstacle.empty()) return obstacle;
  Wish wish{.is_weight = true};
  // One scale for each column of a vector would be one for each product, and the kernel knows the
  // columns of a matrix, not those of many.
  if (config_.per_channel && weight && weight->tensor->dims_size() == 2) wish.axis = 1;
  return read(b, wish, out.inputs[1]);
}

std::string PeerWalk::convolution(const onnx::NodeProto& node, DynamicNode& out) {
  if (!is_float(node.input(0))) return "its input is not known to be float";
  if (has_input(node, 2) && !scopes_.constant(node.input(1))) return "its weight is not constant";
  if (!scopes_.constant(node.input(1)) && !is_float(node.input(1)))
    return "its weight is not known to be float";
  begin(node, Form::Convolution, out);
  std::string obstacle = read(node.input(0), {}, out.inputs[0]);
  if (!obstacle.empty()) return obstacle;
  return read(node.input(1), {.is_weight = true}, out.inputs[1]);
}

std::string PeerWalk::lstm(const onnx::NodeProto& node, DynamicNode& out) {
  if (!is_float(node.input(0))) return "its input is not known to be float";
  begin(node, Form::Lstm, out);
  for (const int slot : {1, 2}) {
    const std::string& name = node.input(slot);
    if (!is_constant_float(name)) return fmt::format("'{}' is not constant", name);
    const Constant weight = *scopes_.constant(name);
    if (weight.tensor->dims_size() != 3) return "its weights have no three axes";
    if (element_type(*weight.tensor) != ElementType::Float)
      return "DynamicQuantizeLSTM computes in float32 only";
    WeightSpec spec;
    spec.scheme = scheme_of(name, {.is_weight = true, .axis = 0}, ElementType::Float);
    spec.scheme.type = ElementType::Int8;
    // The kernel wants zero points of zero where there are several.
    const bool has_one_scale = !config_.per_channel && weight.tensor->dims(0) == 1;
    spec.scheme.is_symmetric =
        !has_one_scale || config_.extra_options.weight_symmetric.value_or(true);
    spec.channel_axis_count = config_.per_channel ? 2 : 1;
    spec.swaps_last_axes = true;
    out.inputs[static_cast<std::size_t>(slot)] = weights_.add(weight, spec);
    if (out.inputs[static_cast<std::size_t>(slot)] < 0)
      return fmt::format("'{}' cannot be quantized", name);
  }
  return "";
}

std::string PeerWalk::attention(const onnx::NodeProto& node, DynamicNode& out) {
  if (const std::string obstacle = attention_obstacle(node); !obstacle.empty()) return obstacle;
  if (scopes_.type_of(node.input(1)) != ElementType::Float)
    return "QAttention computes in float32 only";
  begin(node, Form::Attention, out);
  std::string obstacle = read(node.input(0), {}, out.inputs[0]);
  if (!obstacle.empty()) return obstacle;
  Wish wish{.is_weight = true};
  const auto weight = scopes_.constant(node.input(1));
  if (config_.per_channel && weight)
    wish.axis = normalized_axis(-1, static_cast<std::size_t>(weight->tensor->dims_size()));
  return read(node.input(1), wish, out.inputs[1]);
}

std::string PeerWalk::embedding(const onnx::NodeProto& node, DynamicNode& out) {
  if (const std::string obstacle = embedding_obstacle(node); !obstacle.empty()) return obstacle;
  begin(node, Form::Embedding, out);
  for (int slot = 2; slot < 7; ++slot) {
    if (!has_input(node, slot)) continue;
    if (scopes_.type_of(node.input(slot)) != ElementType::Float)
      return "QEmbedLayerNormalization computes in float32 only";
    std::string obstacle = read(node.input(slot), {}, out.inputs[static_cast<std::size_t>(slot)]);
    if (!obstacle.empty()) return obstacle;
  }
  out.value_type = ElementType::Float;
  return "";
}

std::string PeerWalk::gather(const onnx::NodeProto& node, DynamicNode& out) {
  if (!is_constant_float(node.input(0))) return "its input is not constant";
  begin(node, Form::Gather, out);
  std::string obstacle = read(node.input(0), {}, out.inputs[0]);
  if (!obstacle.empty()) return obstacle;
  integers_[node.output(0)] = {out.inputs[0], false};
  return "";
}

/// Runs on the integers of its input, where that is quantized already.
std::string PeerWalk::transpose(const onnx::NodeProto& node, DynamicNode& out) {
  const std::string& name = node.input(0);
  if (!is_float(name)) return "its input is not known to be float";
  const Integers* known = integers_of(name);
  const bool is_forced = config_.extra_options.force_quantize_no_input_check;
  if (is_forced && !is_constant_float(name)) return "its input is not constant";
  if (!is_forced && (known == nullptr || !serves(*known, {}))) return "its input is not quantized";
  begin(node, Form::Mover, out);
  std::string obstacle = read(name, {}, out.inputs[0]);
  if (!obstacle.empty()) return obstacle;
  integers_[node.output(0)] = {out.inputs[0] >= 0 ? out.inputs[0] : known->weight, false};
  return "";
}

}  // namespace

DynamicPlan plan_dynamic_as_onnxruntime(const Model& model, const GemmDecomposition& gemms,
                                        const QuantizationConfig& config) {
  return PeerWalk(model, gemms, config).run();
}

}  // namespace qtool
