#include "quantize/dynamic/lowering.h"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_set>
#include <utility>

#include "model/attributes.h"
#include "model/erase_named.h"
#include "quantize/dynamic/body_writer.h"
#include "quantize/dynamic/rules.h"
#include "quantize/onnxruntime/node_order.h"

namespace qtool {
namespace {

using Form = DynamicNode::Form;
using Ints = std::vector<std::int64_t>;

constexpr const char* kMicrosoft = "com.microsoft";

/// `node` as another operator: only the attributes are kept.
onnx::NodeProto as_operator(const onnx::NodeProto& node, const char* op_type, const char* domain) {
  onnx::NodeProto out;
  out.set_op_type(op_type);
  out.set_domain(domain);
  *out.mutable_attribute() = node.attribute();
  return out;
}

void remove_attribute(onnx::NodeProto& node, std::string_view name) {
  auto& attributes = *node.mutable_attribute();
  const auto is_it = [&](const onnx::AttributeProto& each) { return each.name() == name; };
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(), is_it), attributes.end());
}

/// The rewriting of all graphs, in their order.
class DynamicLowering {
 public:
  DynamicLowering(Model& model, DynamicPlan& plan)
      : model_(model), plan_(plan), writer_(model, plan) {}

  void run();

 private:
  void lower(onnx::GraphProto& graph);
  void keep(onnx::NodeProto node);
  void lower(const onnx::NodeProto& node, const DynamicNode& planned);

  void product(const onnx::NodeProto& node, const DynamicNode& planned);
  void convolution(const onnx::NodeProto& node, const DynamicNode& planned);
  void lstm(onnx::NodeProto node, const DynamicNode& planned);
  void stored_weights(onnx::NodeProto node, const DynamicNode& planned);
  void attention(const onnx::NodeProto& node, const DynamicNode& planned);
  void embedding(const onnx::NodeProto& node, const DynamicNode& planned);
  void gather(onnx::NodeProto node, const DynamicNode& planned);
  void mover(onnx::NodeProto node, const DynamicNode& planned);

  IntegerNames operand(const onnx::NodeProto& node, const DynamicNode& planned, int slot);
  void scale_product(const IntegerNames (&factors)[2], const std::string& name,
                     const std::string& integers, const std::string& output);
  std::string output_of_scaling(const onnx::NodeProto& node, const DynamicNode& planned,
                                bool has_more, const char* suffix);
  void cast_back(const std::string& from, const DynamicNode& planned, const std::string& output);
  std::string bias_of(const onnx::NodeProto& gemm, const DynamicNode& planned);
  void reshape_bias(const onnx::NodeProto& node, const DynamicNode& planned,
                    const std::string& scaled);
  std::string transposed_sequence(const std::string& value, const std::string& name,
                                  const Ints& order);
  std::string quant_name(const onnx::NodeProto& node);
  std::string named(const std::string& wanted) {
    return wanted.empty() ? wanted : writer_.unique(wanted);
  }
  void note_floats(const onnx::NodeProto& node) {
    for (const auto& output : node.output()) writer_.set_float(output);
  }
  void drop_bypassed(onnx::GraphProto& graph, int number);
  void drop_unused(onnx::GraphProto& graph);

  Model& model_;
  DynamicPlan& plan_;
  BodyWriter writer_;
  /// Products of scales of unnamed nodes, by graph and name.
  std::map<std::pair<int, std::string>, std::string> shared_scales_;
  bool uses_microsoft_ = false;
};

void DynamicLowering::run() {
  lower(model_.graph());
  // Inner graphs first: they capture what lies around them.
  for (int i = static_cast<int>(writer_.graphs().size()) - 1; i >= 0; --i)
    drop_bypassed(*writer_.graphs()[static_cast<std::size_t>(i)], i);
  for (onnx::GraphProto* graph : writer_.graphs()) drop_unused(*graph);
  if (writer_.follows_onnxruntime())
    for (onnx::GraphProto* graph : writer_.graphs()) sort_as_onnxruntime(*graph);
  if (uses_microsoft_ && model_.opset(kMicrosoft) == 0) model_.set_opset(kMicrosoft, 1);
}

void DynamicLowering::lower(onnx::GraphProto& graph) {
  const std::vector<DynamicNode>& planned = plan_.graphs[writer_.graphs().size()];
  writer_.enter(graph);
  auto next = planned.begin();
  std::vector<onnx::NodeProto> nodes;
  for (auto& node : *graph.mutable_node()) nodes.push_back(std::move(node));
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    auto& node = nodes[static_cast<std::size_t>(i)];
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) lower(*attribute.mutable_g());
      for (auto& each : *attribute.mutable_graphs()) lower(each);
    }
    if (next != planned.end() && next->node == i) {
      lower(node, *next++);
    } else {
      keep(std::move(node));
    }
  }
  for (const auto& output : graph.output()) writer_.floats_of(output.name());
  writer_.leave();
}

/// A node that works on floats.
void DynamicLowering::keep(onnx::NodeProto node) {
  for (const auto& name : node.input()) writer_.floats_of(name);
  for (const std::string_view name : captures_of(node)) writer_.floats_of(std::string(name));
  note_floats(node);
  writer_.add(std::move(node));
}

void DynamicLowering::lower(const onnx::NodeProto& node, const DynamicNode& planned) {
  switch (planned.form) {
    case Form::Product:
      return product(node, planned);
    case Form::Convolution:
      return convolution(node, planned);
    case Form::Lstm:
      return lstm(node, planned);
    case Form::StoredWeights:
      return stored_weights(node, planned);
    case Form::Attention:
      return attention(node, planned);
    case Form::Embedding:
      return embedding(node, planned);
    case Form::Gather:
      return gather(node, planned);
    case Form::Mover:
      return mover(node, planned);
  }
}

/// The integers that the node reads at `slot`; no names where there is no such input.
IntegerNames DynamicLowering::operand(const onnx::NodeProto& node, const DynamicNode& planned,
                                      int slot) {
  if (!has_input(node, slot)) return {};
  const int input = planned.inputs[static_cast<std::size_t>(slot)];
  if (input >= 0) return writer_.weight(input);
  const std::string& name = node.input(slot);
  const ElementType type = planned.value_type;
  return writer_.quantized(name, type);
}

std::string DynamicLowering::quant_name(const onnx::NodeProto& node) {
  if (!node.name().empty()) return writer_.unique(node.name() + "_quant");
  return writer_.follows_onnxruntime() ? "" : writer_.unique(node.output(0) + "_quant");
}

/// Where what is scaled goes: into the output, unless more is done with it.
std::string DynamicLowering::output_of_scaling(const onnx::NodeProto& node,
                                               const DynamicNode& planned, bool has_more,
                                               const char* suffix) {
  const bool is_cast = planned.value_type != ElementType::Float;
  return has_more || is_cast ? writer_.unique(node.output(0) + suffix) : node.output(0);
}

void DynamicLowering::cast_back(const std::string& from, const DynamicNode& planned,
                                const std::string& output) {
  auto& cast = writer_.add("Cast", writer_.unique(output + "_cast"), {from}, output);
  set_int(cast, "to", static_cast<std::int64_t>(planned.value_type));
}

/// What ONNX Runtime fuses with the integer product before it: Cast, then a product with that of
/// the two scales.
void DynamicLowering::scale_product(const IntegerNames (&factors)[2], const std::string& name,
                                    const std::string& integers, const std::string& output) {
  const std::string cast_output = writer_.unique(integers + "_cast_output");
  auto& cast = writer_.add("Cast", writer_.unique(integers + "_cast"), {integers}, cast_output);
  set_int(cast, "to", static_cast<std::int64_t>(ElementType::Float));
  const std::string both =
      name.empty() ? factors[0].scale + "_" + factors[1].scale + "_mul" : name + "_scales_mul";
  const auto known = shared_scales_.find({writer_.number(), both});
  std::string scales = known != shared_scales_.end() ? known->second : "";
  if (scales.empty()) {
    scales = writer_.unique(both + ":0");
    writer_.add("Mul", writer_.unique(both), {factors[0].scale, factors[1].scale}, scales);
    if (name.empty()) shared_scales_[{writer_.number(), both}] = scales;
  }
  writer_.add("Mul", named(name.empty() ? "" : name + "_output_scale_mul"), {cast_output, scales},
              output);
}

void DynamicLowering::product(const onnx::NodeProto& node, const DynamicNode& planned) {
  const bool is_gemm = node.op_type() == "Gemm";
  IntegerNames factors[2] = {operand(node, planned, 0), operand(node, planned, 1)};
  if (is_gemm && int_attribute(node, "transA", 0) != 0) {
    const std::string transposed = writer_.unique(node.output(0) + "_A_Transposed");
    writer_.add("Transpose", writer_.unique(node.output(0) + "_A_Transpose"), {factors[0].values},
                transposed);
    factors[0].values = transposed;
  }
  const bool has_bias = is_gemm && has_input(node, 2);
  const std::string integers = writer_.unique(node.output(0) + "_output_quantized");
  const std::string name = quant_name(node);
  writer_.add("MatMulInteger", name,
              {factors[0].values, factors[1].values, factors[0].zero_point, factors[1].zero_point},
              integers);
  const std::string scaled = output_of_scaling(node, planned, has_bias, "_MatMul");
  scale_product(factors, name, integers, scaled);
  if (has_bias) {
    const std::string sum = output_of_scaling(node, planned, false, "_Add");
    writer_.add("Add", writer_.unique(name + "_Add"), {scaled, bias_of(node, planned)}, sum);
    if (sum != node.output(0)) cast_back(sum, planned, node.output(0));
  } else if (scaled != node.output(0)) {
    cast_back(scaled, planned, node.output(0));
  }
  note_floats(node);
}

/// The third input of a Gemm times beta, as float32.
std::string DynamicLowering::bias_of(const onnx::NodeProto& gemm, const DynamicNode& planned) {
  writer_.floats_of(gemm.input(2));
  const std::string bias = writer_.as_float32(gemm.input(2), planned.value_type);
  const float beta = float_attribute(gemm, "beta", 1);
  if (beta == 1) return bias;
  const std::string factor = writer_.unique(gemm.output(0) + "_beta");
  const float values[] = {beta};
  writer_.store(make_float_tensor(factor, ElementType::Float, {}, values));
  const std::string product = writer_.unique(gemm.output(0) + "_beta_bias");
  writer_.add("Mul", writer_.unique(gemm.output(0) + "_beta_Mul"), {bias, factor}, product);
  return product;
}

void DynamicLowering::convolution(const onnx::NodeProto& node, const DynamicNode& planned) {
  const IntegerNames factors[2] = {operand(node, planned, 0), operand(node, planned, 1)};
  const bool has_bias = has_input(node, 2);
  const std::string integers = writer_.unique(node.output(0) + "_output_quantized");
  const std::string name = quant_name(node);
  onnx::NodeProto convolution = as_operator(node, "ConvInteger", "");
  if (!name.empty()) convolution.set_name(name);
  for (const auto& input :
       {factors[0].values, factors[1].values, factors[0].zero_point, factors[1].zero_point})
    convolution.add_input(input);
  convolution.add_output(integers);
  writer_.add(std::move(convolution));
  const std::string scaled = output_of_scaling(node, planned, has_bias, "quant_scaled_output");
  scale_product(factors, name, integers, scaled);
  if (has_bias) {
    reshape_bias(node, planned, scaled);
  } else if (scaled != node.output(0)) {
    cast_back(scaled, planned, node.output(0));
  }
  note_floats(node);
}

/// Adds the bias to `scaled`, along the axis of the channels.
void DynamicLowering::reshape_bias(const onnx::NodeProto& node, const DynamicNode& planned,
                                   const std::string& scaled) {
  const std::string& output = node.output(0);
  writer_.floats_of(node.input(2));
  const std::string bias = writer_.as_float32(node.input(2), planned.value_type);
  const StoredWeight& weight = plan_.weights[static_cast<std::size_t>(planned.inputs[1])];
  Ints shape(weight.shape.size(), 1);
  shape[1] = -1;
  const std::string stored = writer_.unique(output + "_bias_reshape_shape");
  const Ints rank{static_cast<std::int64_t>(shape.size())};
  writer_.store(make_tensor(stored, ElementType::Int64, rank, std::as_bytes(std::span(shape))));
  const std::string reshaped = writer_.unique(output + "_bias_reshape_output");
  const bool is_unnamed = writer_.follows_onnxruntime();
  writer_.add("Reshape", is_unnamed ? "" : writer_.unique(output + "_bias_reshape"), {bias, stored},
              reshaped);
  const std::string sum = output_of_scaling(node, planned, false, "_biased");
  writer_.add("Add", writer_.unique(output + "_bias_add"), {scaled, reshaped}, sum);
  if (sum != output) cast_back(sum, planned, output);
}

std::string DynamicLowering::transposed_sequence(const std::string& value, const std::string& name,
                                                 const Ints& order) {
  const std::string output = writer_.unique(name);
  auto& node = writer_.add("Transpose", writer_.unique(name + "_Transpose"), {value}, output);
  set_ints(node, "perm", order);
  return output;
}

/// The integer operator knows one layout only, that with the sequence first.
void DynamicLowering::lstm(onnx::NodeProto node, const DynamicNode& planned) {
  onnx::NodeProto out = as_operator(node, "DynamicQuantizeLSTM", kMicrosoft);
  remove_attribute(out, "layout");
  out.set_name(quant_name(node));
  const bool has_batch_first = int_attribute(node, "layout", 0) != 0;
  const int weights[] = {planned.inputs[1], planned.inputs[2]};
  for (const int weight : weights) writer_.store_params(weight);
  for (const int weight : weights) writer_.store_values(weight);
  for (int slot = 0; slot < 8; ++slot) {
    std::string input = has_input(node, slot) ? node.input(slot) : "";
    if (slot == 1 || slot == 2) {
      input = writer_.weight(weights[slot - 1]).values;
    } else {
      writer_.floats_of(input);
      const bool is_swapped = has_batch_first && (slot == 0 || slot == 5 || slot == 6);
      if (is_swapped && !input.empty())
        input = transposed_sequence(input, input + "_" + node.output(0), {1, 0, 2});
    }
    out.add_input(input);
  }
  for (const int weight : weights) {
    out.add_input(writer_.weight(weight).scale);
    out.add_input(writer_.weight(weight).zero_point);
  }
  *out.mutable_output() = node.output();
  std::vector<std::string> inner;
  for (int i = 0; has_batch_first && i < out.output_size(); ++i) {
    if (!node.output(i).empty()) out.set_output(i, writer_.unique(node.output(i) + "_inner"));
    inner.push_back(out.output(i));
  }
  writer_.add(std::move(out));
  for (std::size_t i = 0; i < inner.size(); ++i) {
    const std::string& output = node.output(static_cast<int>(i));
    if (output.empty()) continue;
    auto& back =
        writer_.add("Transpose", writer_.unique(output + "_Transpose"), {inner[i]}, output);
    set_ints(back, "perm", i == 0 ? Ints{2, 0, 1, 3} : Ints{1, 0, 2});
  }
  uses_microsoft_ = true;
  note_floats(node);
}

void DynamicLowering::stored_weights(onnx::NodeProto node, const DynamicNode& planned) {
  for (int slot = 0; slot < node.input_size(); ++slot) {
    const int weight = planned.inputs[static_cast<std::size_t>(slot)];
    if (weight < 0) {
      writer_.floats_of(node.input(slot));
      continue;
    }
    const IntegerNames names = writer_.weight(weight);
    const std::string dequantized = writer_.unique(names.values + "_dequantized");
    writer_.dequantize(names, writer_.unique(names.values + "_DequantizeLinear"), dequantized);
    node.set_input(slot, dequantized);
  }
  note_floats(node);
  writer_.add(std::move(node));
}

void DynamicLowering::attention(const onnx::NodeProto& node, const DynamicNode& planned) {
  onnx::NodeProto out = as_operator(node, "QAttention", kMicrosoft);
  out.set_name(quant_name(node));
  const IntegerNames x = operand(node, planned, 0), weight = operand(node, planned, 1);
  const auto optional = [&](int slot) { return has_input(node, slot) ? node.input(slot) : ""; };
  for (const int slot : {2, 4}) writer_.floats_of(optional(slot));
  for (const auto& input : {x.values, weight.values, node.input(2), x.scale, weight.scale,
                            optional(3), x.zero_point, weight.zero_point, optional(4)})
    out.add_input(input);
  *out.mutable_output() = node.output();
  writer_.add(std::move(out));
  uses_microsoft_ = true;
  note_floats(node);
}

void DynamicLowering::embedding(const onnx::NodeProto& node, const DynamicNode& planned) {
  onnx::NodeProto out = as_operator(node, "QEmbedLayerNormalization", kMicrosoft);
  remove_attribute(out, "mask_index_type");
  out.set_name(quant_name(node));
  std::vector<IntegerNames> tables;
  for (int slot = 2; slot < 7; ++slot) tables.push_back(operand(node, planned, slot));
  for (const int slot : {0, 1}) out.add_input(node.input(slot));
  for (const auto& table : tables) out.add_input(table.values);
  out.add_input(has_input(node, 7) ? node.input(7) : "");
  for (const auto& table : tables) out.add_input(table.scale);
  for (const auto& table : tables) out.add_input(table.zero_point);
  *out.mutable_output() = node.output();
  writer_.add(std::move(out));
  uses_microsoft_ = true;
  note_floats(node);
}

void DynamicLowering::gather(onnx::NodeProto node, const DynamicNode& planned) {
  IntegerNames names = operand(node, planned, 0);
  const std::string output = node.output(0);
  node.set_input(0, names.values);
  names.values = writer_.unique(output + "_quantized");
  node.set_output(0, names.values);
  writer_.add(std::move(node));
  if (writer_.follows_onnxruntime()) {
    writer_.set_integers(output, names);
    return;
  }
  if (names.axis) names.axis = -1;
  writer_.dequantize(names, writer_.unique(output + "_DequantizeLinear"), output);
  writer_.set_float(output);
}

void DynamicLowering::mover(onnx::NodeProto node, const DynamicNode& planned) {
  IntegerNames names = operand(node, planned, 0);
  const std::string output = node.output(0);
  node.set_input(0, names.values);
  names.values = writer_.unique(output + "_quantized");
  node.set_output(0, names.values);
  writer_.add(std::move(node));
  writer_.set_integers(output, names);
}

/// Nodes that brought a weight to products alone go.
void DynamicLowering::drop_bypassed(onnx::GraphProto& graph, int number) {
  std::unordered_set<std::string> values;
  for (const auto& nodes : plan_.graphs)
    for (const DynamicNode& node : nodes)
      for (const auto& [place, value] : node.bypassed)
        if (place == number) values.insert(value);
  for (bool is_done = values.empty(); !is_done;) {
    const GraphView view(graph);
    const auto is_unread = [&](const onnx::NodeProto& node) {
      const std::string value = node.output_size() > 0 ? node.output(0) : "";
      return values.contains(value) && view.uses_of(value).empty() && !view.is_captured(value) &&
             !view.is_graph_output(value);
    };
    std::unordered_set<std::string> unread;
    for (const auto& node : graph.node())
      if (is_unread(node)) unread.insert(node.output(0));
    auto& nodes = *graph.mutable_node();
    const auto is_gone = [&](const onnx::NodeProto& node) {
      return node.output_size() > 0 && unread.contains(node.output(0));
    };
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_gone), nodes.end());
    is_done = unread.empty();
  }
}

/// What nobody reads goes, and what a DequantizeLinear gives now under the same name; with weights
/// that were quantized go the inputs that they were the defaults of.
void DynamicLowering::drop_unused(onnx::GraphProto& graph) {
  const GraphView view(graph);
  std::unordered_set<std::string> sources;
  for (const StoredWeight& weight : plan_.weights) sources.insert(weight.source);
  const auto is_unused = [&](const std::string& name) {
    if (view.producer_of(name) >= 0) return true;
    return !view.is_read(name) && (sources.contains(name) || !view.is_graph_input(name));
  };
  std::unordered_set<std::string> gone, stale;
  for (const auto& tensor : graph.initializer())
    if (is_unused(tensor.name())) gone.insert(tensor.name());
  for (const auto& info : graph.value_info()) {
    const bool is_held = view.initializer(info.name()) && !gone.contains(info.name());
    if (view.producer_of(info.name()) < 0 && !is_held) stale.insert(info.name());
  }
  erase_named(*graph.mutable_initializer(), gone);
  erase_named(*graph.mutable_input(), gone);
  erase_named(*graph.mutable_value_info(), stale);
}

}  // namespace

Model lower_dynamic(Model model, DynamicPlan& plan) {
  DynamicLowering(model, plan).run();
  return model;
}

}  // namespace qtool
