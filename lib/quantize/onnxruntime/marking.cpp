#include "quantize/onnxruntime/marking.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "quantize/activation_params.h"
#include "quantize/clamps.h"
#include "quantize/node_filter.h"
#include "quantize/op_rules.h"
#include "quantize/params.h"
#include "quantize/size_nodes.h"

namespace qtool {
namespace {

class Marker {
 public:
  /// `kept`: Relu and Clip nodes that are not to be folded.
  Marker(const MarkingContext& context, const NodeSelection& nodes, std::unordered_set<int> kept)
      : model_(context.model),
        graph_(context.graph),
        config_(context.config),
        options_(context.config.extra_options),
        overrides_(context.overrides),
        ranges_(context.ranges),
        nodes_(nodes),
        kept_(std::move(kept)),
        opset_(context.model.opset()) {}

  Marking run();

  // What the operators' rows point to; each marks the tensors of one node.
  void every_tensor(int index);
  void conv(int index);
  void gemm(int index);
  void mat_mul(int index);
  void clamp(int index);
  void mover(int index);
  void max_pool(int index);
  void resize(int index);
  void pad(int index);
  void split(int index);
  void gather(int index);
  void where(int index);
  void normalization(int index);

 private:
  const onnx::NodeProto& node(int index) const { return graph_.node(index); }
  bool excludes_output(int index) const;
  bool is_quantizable(const std::string& name) const;
  bool is_marked(const std::string& name) const {
    return out_.tensors.contains(name) || bias_names_.contains(name);
  }
  bool is_float_constant(const std::string& name) const;

  void mark(const std::string& name) {
    if (is_quantizable(name)) out_.tensors.add(name, {});
  }
  void mark_outputs(int index);
  void mark_shared(const std::string& output, int index);
  void mark_weight(const std::string& name, std::int64_t default_axis, std::string_view op_type);
  std::optional<std::int64_t> channel_axis(const std::string& name, std::int64_t default_axis,
                                           std::string_view op_type) const;
  void mark_bias(Use use, const BiasLayout& layout);
  std::string bias_copy(const std::string& name);
  bool is_seen_quantized(const std::string& output) const;
  bool can_fold(int index) const;
  void skip(int index, const std::string& tensor, std::string reason);

  const Model& model_;
  const GraphView& graph_;
  const QuantizationConfig& config_;
  const ExtraOptions& options_;
  const TensorOverrides& overrides_;
  const RangeSources& ranges_;
  const NodeSelection& nodes_;
  std::unordered_set<int> kept_;
  std::int64_t opset_;
  std::unordered_set<std::string> bias_names_;
  std::unordered_map<std::string, std::int64_t> last_suffix_;
  Marking out_;
};

/// How one operator is walked.
struct Row {
  std::string_view op_type;
  void (Marker::*mark)(int index);
};

/// Sorted by op_type. Operators without a row have every float input and output marked.
constexpr auto kRows = std::to_array<Row>({
    {"AveragePool", &Marker::mover},
    {"BatchNormalization", &Marker::normalization},
    {"Clip", &Marker::clamp},
    {"Conv", &Marker::conv},
    {"ConvTranspose", &Marker::conv},
    {"Flatten", &Marker::mover},
    {"Gather", &Marker::gather},
    {"GatherElements", &Marker::gather},
    {"Gemm", &Marker::gemm},
    {"InstanceNormalization", &Marker::normalization},
    {"LayerNormalization", &Marker::normalization},
    {"MatMul", &Marker::mat_mul},
    {"MaxPool", &Marker::max_pool},
    {"Pad", &Marker::pad},
    {"Relu", &Marker::clamp},
    {"Reshape", &Marker::mover},
    {"Resize", &Marker::resize},
    {"Slice", &Marker::mover},
    {"Split", &Marker::split},
    {"Squeeze", &Marker::mover},
    {"TopK", &Marker::mover},
    {"Transpose", &Marker::mover},
    {"Unsqueeze", &Marker::mover},
    {"Where", &Marker::where},
});
static_assert(std::ranges::is_sorted(kRows, {}, &Row::op_type), "keep kRows sorted by op_type");

Marking Marker::run() {
  for (int index = 0; index < graph_.node_count(); ++index) {
    if (!nodes_.takes_part[static_cast<std::size_t>(index)]) {
      skip(index, "", nodes_.reasons[static_cast<std::size_t>(index)]);
      continue;
    }
    if (node(index).input_size() == 0) {
      every_tensor(index);
      continue;
    }
    const auto row = std::ranges::lower_bound(kRows, node(index).op_type(), {}, &Row::op_type);
    const bool has_row = row != kRows.end() && row->op_type == node(index).op_type();
    const std::size_t skipped_before = out_.skipped.size();
    (this->*(has_row ? row->mark : &Marker::every_tensor))(index);
    for (int slot = 0; slot < node(index).input_size(); ++slot)
      out_.readers[node(index).input(slot)].push_back({index, slot});
    const bool is_refused =
        out_.skipped.size() > skipped_before && out_.skipped.back().tensor.empty();
    if (!is_refused) out_.quantized_nodes.push_back(index);
  }
  return std::move(out_);
}

void Marker::skip(int index, const std::string& tensor, std::string reason) {
  out_.skipped.push_back(
      {index, node(index).name(), node(index).op_type(), tensor, std::move(reason)});
}

bool Marker::excludes_output(int index) const {
  const auto& excluded = options_.op_types_to_exclude_output_quantization;
  return std::ranges::find(excluded, node(index).op_type()) != excluded.end();
}

bool Marker::is_quantizable(const std::string& name) const {
  if (name.empty()) return false;
  const ElementType type = graph_.type_of(name);
  return type == ElementType::Float || type == ElementType::Float16;
}

bool Marker::is_float_constant(const std::string& name) const {
  return graph_.initializer(name) != nullptr && is_quantizable(name);
}

void Marker::mark_outputs(int index) {
  if (excludes_output(index)) return;
  for (const std::string& name : node(index).output()) mark(name);
}

/// `output` takes the scale and zero point of the node's first input.
void Marker::mark_shared(const std::string& output, int index) {
  if (is_quantizable(output))
    out_.tensors.replace(output, {.provider = node(index).input(0), .reader = index});
}

std::optional<std::int64_t> Marker::channel_axis(const std::string& name, std::int64_t default_axis,
                                                 std::string_view op_type) const {
  if (overrides_.is_per_tensor(name)) return std::nullopt;
  const bool is_overridden = overrides_.is_per_channel(name);
  if (!config_.per_channel && !is_overridden) return std::nullopt;
  const auto& axes = options_.qdq_op_type_per_channel_support_to_axis;
  const auto chosen = axes.find(std::string(op_type));
  std::int64_t axis = chosen == axes.end() ? default_axis : chosen->second;
  if (is_overridden) axis = *overrides_.find(name)->axis;
  const auto rank = static_cast<std::size_t>(graph_.initializer(name)->dims_size());
  axis = normalized_axis(axis, rank);
  const bool exists = axis >= 0 && axis < static_cast<std::int64_t>(rank);
  return exists ? std::optional(axis) : std::nullopt;
}

/// `op_type`: whose channel axis QDQOpTypePerChannelSupportToAxis may set; empty where it may not.
void Marker::mark_weight(const std::string& name, std::int64_t default_axis,
                         std::string_view op_type) {
  if (!is_quantizable(name)) return;
  const bool is_constant = graph_.initializer(name) != nullptr;
  const auto axis = is_constant ? channel_axis(name, default_axis, op_type) : std::nullopt;
  if (axis) {
    out_.tensors.replace(name, {.is_weight = true, .axis = axis});
  } else {
    out_.tensors.add(name, {.is_weight = true});
  }
}

/// A name for the bias's next copy: its own and the number after the largest that initializers of
/// such names have.
std::string Marker::bias_copy(const std::string& name) {
  const auto [last, is_new] = last_suffix_.try_emplace(name, -1);
  if (is_new) {
    for (const auto& tensor : graph_.graph().initializer()) {
      if (!tensor.name().starts_with(name)) continue;
      const char* first = tensor.name().data() + name.size();
      const char* end = tensor.name().data() + tensor.name().size();
      std::int64_t number = 0;
      const auto [stop, error] = std::from_chars(first, end, number);
      if (error == std::errc() && stop == end) last->second = std::max(last->second, number);
    }
  }
  return name + std::to_string(++last->second);
}

void Marker::mark_bias(Use use, const BiasLayout& layout) {
  const std::string name = node(use.node).input(use.slot);
  if (const TensorOverride* found = overrides_.find(name); found && graph_.initializer(name)) {
    mark_weight(name, 0, "");
    return;
  }
  const onnx::TensorProto* values = graph_.initializer(name);
  if (!values) return skip(use.node, name, "a computed bias stays float");
  if (!is_quantizable(name)) return;
  const bool is_first = bias_names_.insert(name).second;
  out_.biases.push_back({.name = is_first ? name : bias_copy(name),
                         .initializer = name,
                         .use = use,
                         .layout = layout});
  if (!is_first) bias_names_.insert(out_.biases.back().name);
}

void Marker::every_tensor(int index) {
  for (const std::string& name : node(index).input()) mark(name);
  mark_outputs(index);
}

void Marker::conv(int index) {
  const auto& conv = node(index);
  mark(conv.input(0));
  mark_outputs(index);
  if (conv.input_size() < 2) return;
  const bool is_transposed = conv.op_type() == "ConvTranspose";
  mark_weight(conv.input(1), is_transposed ? 1 : 0, "");
  if (conv.input_size() == 3 && !conv.input(2).empty())
    mark_bias({index, 2}, {.channel_axis = is_transposed ? 1 : 0,
                           .groups = is_transposed ? int_attribute(conv, "group", 1) : 1});
}

void Marker::gemm(int index) {
  const auto& gemm = node(index);
  mark(gemm.input(0));
  mark_outputs(index);
  if (gemm.input_size() < 2) return;
  const std::int64_t axis = int_attribute(gemm, "transB", 0) > 0 ? 0 : 1;
  mark_weight(gemm.input(1), axis, "");
  if (gemm.input_size() == 3 && !gemm.input(2).empty()) {
    mark_bias({index, 2}, {.channel_axis = axis, .factor = float_attribute(gemm, "beta", 1.0F)});
  }
}

void Marker::mat_mul(int index) {
  for (const std::string& name : node(index).input()) {
    const onnx::TensorProto* matrix = graph_.initializer(name);
    if (!matrix) {
      mark(name);
    } else if (matrix->dims_size() > 2 && excludes_output(index)) {
      // ONNX Runtime computes float outputs by a kernel that has no scales for such channels.
      if (is_quantizable(name)) out_.tensors.add(name, {.is_weight = true});
    } else {
      mark_weight(name, 1, "MatMul");
    }
  }
  mark_outputs(index);
}

/// Whether everyone who reads `output` gets it from its quantizer, which clamps it.
bool Marker::is_seen_quantized(const std::string& output) const {
  if (graph_.is_captured(output)) return false;
  const auto uses = graph_.uses_of(output);
  const auto is_other = [&](const Use& use) { return use.node != uses.front().node; };
  if (!options_.dedicated_qdq_pair || std::ranges::none_of(uses, is_other)) return true;
  // A pair for each reader is none for the graph's output and for nodes that stay as they are.
  return !graph_.is_graph_output(output) && std::ranges::all_of(uses, [&](const Use& use) {
    return static_cast<bool>(nodes_.takes_part[static_cast<std::size_t>(use.node)]);
  });
}

/// Whether the quantizer of a Relu's or Clip's output does all that the node does.
bool Marker::can_fold(int index) const {
  const auto& clamp = node(index);
  const std::string& input = clamp.input(0);
  const std::string& output = clamp.output(0);
  if (options_.activation_symmetric.value_or(false) || options_.qdq_keep_removable_activations ||
      !is_quantizable(output) || ranges_.is_draft() || kept_.contains(index))
    return false;
  if (graph_.uses_of(input).size() != 1 || graph_.producer_of(input) < 0 ||
      graph_.is_graph_output(input) || graph_.is_captured(input))
    return false;
  if (!is_seen_quantized(output)) return false;
  const TensorOverride* override = overrides_.find(output);
  const TensorOverride* of_input = overrides_.find(input);
  if ((override && override->convert) || (of_input && of_input->convert)) return false;
  const auto range = ranges_.range(output);
  if (!range) return false;
  const QuantParams params = activation_params(*range, config_, override, graph_.type_of(output));
  return !is_float8(params.type) && quantizer_clamps({clamp, graph_, model_, opset_}, params);
}

void Marker::clamp(int index) {
  const auto& clamp = node(index);
  const std::string& input = clamp.input(0);
  if (!is_marked(input)) return skip(index, "", "its input is not quantized");
  if (can_fold(index)) {
    out_.folded.push_back({index, input, clamp.output(0)});
    out_.tensors.erase(input);
  } else if (!graph_.initializer(input)) {
    mark(input);
  }
  mark_outputs(index);
}

void Marker::mover(int index) {
  const std::string& input = node(index).input(0);
  if (options_.force_quantize_no_input_check) {
    mark(input);
  } else if (!is_marked(input)) {
    return skip(index, "", "its input is not quantized");
  }
  if (!excludes_output(index)) mark_shared(node(index).output(0), index);
}

void Marker::max_pool(int index) {
  if (opset_ < 12) return skip(index, "", fmt::format("needs opset 12, the model has {}", opset_));
  if (config_.activation_type == QuantType::Float8E4M3FN)
    return skip(index, "", "has no form of type float8e4m3fn");
  const std::string obstacle = obstacle_before("MaxPool", element_type(config_.activation_type));
  if (!obstacle.empty()) return skip(index, "", obstacle);
  mover(index);
}

void Marker::resize(int index) {
  if (opset_ < 11) return skip(index, "", fmt::format("needs opset 11, the model has {}", opset_));
  mover(index);
}

void Marker::pad(int index) {
  for (const std::string& name : node(index).input()) mark(name);
  if (excludes_output(index)) return;
  const OpRule rule = refine_pad({}, {node(index), graph_, model_, opset_});
  const std::string& input = node(index).input(0);
  if (rule.outputs == OutputParams::SharedWithInput && !graph_.initializer(input)) {
    mark_shared(node(index).output(0), index);
  } else {
    mark(node(index).output(0));
  }
}

void Marker::split(int index) {
  mark(node(index).input(0));
  if (excludes_output(index)) return;
  for (const std::string& output : node(index).output()) mark_shared(output, index);
}

void Marker::gather(int index) {
  const std::string& input = node(index).input(0);
  if (is_float_constant(input) || options_.force_quantize_no_input_check) {
    mark(input);
  } else if (!is_marked(input)) {
    return skip(index, "", "its input is not quantized");
  }
  mark_shared(node(index).output(0), index);
}

void Marker::where(int index) {
  const auto& where = node(index);
  if (where.input_size() < 3) return;
  if (options_.force_quantize_no_input_check) {
    mark(where.input(1));
    mark(where.input(2));
  } else if (!is_marked(where.input(1)) || !is_marked(where.input(2))) {
    return skip(index, "", "not all of its inputs are quantized");
  }
  mark_outputs(index);
}

void Marker::normalization(int index) {
  const auto& norm = node(index);
  mark(norm.input(0));
  if (norm.input_size() > 1 && graph_.initializer(norm.input(1))) {
    mark_weight(norm.input(1), 1, norm.op_type());
  } else if (norm.input_size() > 1) {
    mark(norm.input(1));
  }
  if (norm.input_size() > 2 && !norm.input(2).empty()) mark_bias({index, 2}, {.channel_axis = 0});
  mark_outputs(index);
}

}  // namespace

NodeSelection select_nodes(const GraphView& graph, const QuantizationConfig& config) {
  const NodeFilter filter(graph.graph(), config, placement_for(Preset::OnnxRuntime));
  const std::vector<bool> computes_size = size_nodes(graph);
  NodeSelection out;
  for (int index = 0; index < graph.node_count(); ++index) {
    std::string reason;
    const bool takes_part = filter.rule_for(graph.node(index), reason) != nullptr;
    out.takes_part.push_back(takes_part && !computes_size[static_cast<std::size_t>(index)]);
    out.reasons.push_back(takes_part ? "computes a size" : std::move(reason));
  }
  return out;
}

Marking mark_tensors(const MarkingContext& context, const NodeSelection& nodes) {
  // Only at the end is it known whether somebody quantizes what a folded Relu or Clip would give.
  for (std::unordered_set<int> kept;;) {
    Marker marker(context, nodes, kept);
    Marking marking = marker.run();
    std::unordered_map<std::string, std::string> folded_into;
    for (const FoldedNode& folded : marking.folded) folded_into[folded.input] = folded.output;
    std::unordered_set<int> unclamped;
    for (const FoldedNode& folded : marking.folded) {
      std::string last = folded.output;
      for (auto next = folded_into.find(last); next != folded_into.end();
           next = folded_into.find(last)) {
        last = next->second;
      }
      if (!marking.tensors.contains(last)) unclamped.insert(folded.node);
    }
    if (unclamped.empty()) return marking;
    kept.merge(unclamped);
  }
}

}  // namespace qtool
