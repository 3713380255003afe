#include "inspect/fusion_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "preprocess/foldable.h"
#include "quantize/params.h"

namespace qtool {
namespace {

bool is_quantizer(const onnx::NodeProto& node) { return node.op_type() == "QuantizeLinear"; }
bool is_dequantizer(const onnx::NodeProto& node) { return node.op_type() == "DequantizeLinear"; }
bool is_clamp(const onnx::NodeProto& node) {
  return node.op_type() == "Relu" || node.op_type() == "Clip";
}

/// Operators that pairs are moved past, with the last opset whose form that is done for.
struct Passed {
  std::string_view op_type;
  std::int64_t last_opset;
};
constexpr Passed kPassed[] = {{"MaxPool", 21}, {"Reshape", 20},   {"Slice", 100},
                              {"Squeeze", 20}, {"Transpose", 20}, {"Unsqueeze", 20}};

bool is_passed(const onnx::NodeProto& node, std::int64_t opset) {
  return std::ranges::any_of(kPassed, [&](const Passed& each) {
    return each.op_type == node.op_type() && opset <= each.last_opset &&
           (node.op_type() != "MaxPool" || opset >= 12);
  });
}

}  // namespace

FusionGraph::FusionGraph(const Model& model, const onnx::GraphProto& graph, const GraphView* outer)
    : model_(model),
      view_(graph, outer),
      is_gone_(static_cast<std::size_t>(graph.node_size()), false) {
  find_constants();
  drop_clamps();
  move_quantizers();
  // Quantizers that were moved may make more of them superfluous.
  drop_clamps();
}

const onnx::TensorProto* FusionGraph::constant(const std::string& value) const {
  if (const onnx::TensorProto* initializer = view_.initializer(value)) return initializer;
  const int producer = view_.producer_of(value);
  if (producer < 0 || view_.node(producer).op_type() != "Constant") return nullptr;
  for (const auto& attribute : view_.node(producer).attribute()) {
    if (attribute.name() == "value" && attribute.has_t()) return &attribute.t();
  }
  return nullptr;
}

/// What a Q gives or a DQ takes: the zero point has that type.
ElementType FusionGraph::integer_type(const onnx::NodeProto& pair) const {
  if (pair.input_size() > 2 && !pair.input(2).empty()) return view_.type_of(pair.input(2));
  if (is_quantizer(pair)) return ElementType::UInt8;
  const int producer = view_.producer_of(pair.input(0));
  if (producer >= 0 && is_quantizer(view_.node(producer)))
    return integer_type(view_.node(producer));
  return view_.type_of(pair.input(0));
}

/// The value of a constant of one element, which lowering may have put into either field.
double FusionGraph::number_in(const onnx::TensorProto& constant) const {
  if (constant.float_data_size() > 0) return constant.float_data(0);
  if (constant.int32_data_size() > 0) return constant.int32_data(0);
  const Tensor tensor = model_.tensor(constant);
  if (tensor.bytes.empty()) return 0;
  if (tensor.type == ElementType::Int8) return static_cast<signed char>(tensor.bytes.front());
  if (tensor.type == ElementType::UInt8) return static_cast<unsigned char>(tensor.bytes.front());
  const bool is_real = tensor.type == ElementType::Float || tensor.type == ElementType::Float16;
  return is_real ? to_float32(tensor).front() : 0;
}

std::optional<PairParams> FusionGraph::params_of(const onnx::NodeProto& node) const {
  if (node.input_size() < 2) return std::nullopt;
  const onnx::TensorProto* scale = constant(node.input(1));
  if (!scale || element_count(*scale) != 1) return std::nullopt;
  PairParams params{number_in(*scale), 0};
  if (node.input_size() > 2 && !node.input(2).empty()) {
    const onnx::TensorProto* zero_point = constant(node.input(2));
    if (!zero_point || element_count(*zero_point) != 1) return std::nullopt;
    params.zero_point = number_in(*zero_point);
  }
  return params;
}

/// What ONNX Runtime folds before it looks for integer kernels, a Q not among it.
void FusionGraph::find_constants() {
  const auto is_constant = [&](const std::string& value) {
    return value.empty() || computed_constants_.contains(value) || constant(value) != nullptr;
  };
  for (int index = 0; index < view_.node_count(); ++index) {
    const auto& node = view_.node(index);
    if (is_pure(node) && node.input_size() > 0 && std::ranges::all_of(node.input(), is_constant))
      computed_constants_.insert(node.output().begin(), node.output().end());
  }
}

/// ONNX Runtime gives each reader of a DQ one of its own, but for the first; the graph's outputs
/// and bodies keep that. A Shape does not count: mostly it is folded before.
bool FusionGraph::keeps_one_dequantizer(const onnx::NodeProto& dequantizer) const {
  const std::string& value = dequantizer.output(0);
  const auto readers = std::ranges::count_if(view_.uses_of(value), [&](const Use& use) {
    return view_.node(use.node).op_type() != "Shape";
  });
  return readers <= (view_.is_graph_output(value) || view_.is_captured(value) ? 0 : 1);
}

/// ONNX Runtime makes a Q and a DQ of int8 uint8 where that DQ alone reads that Q. Before that it
/// has computed the Q of a constant.
bool FusionGraph::becomes_unsigned(const onnx::NodeProto& pair) const {
  const int quantizer =
      is_quantizer(pair) ? view_.producer_of(pair.output(0)) : view_.producer_of(pair.input(0));
  if (quantizer < 0 || !is_quantizer(view_.node(quantizer))) return false;
  const auto& node = view_.node(quantizer);
  const int dequantizer = sole_reader(node.output(0));
  return dequantizer >= 0 && is_dequantizer(view_.node(dequantizer)) &&
         keeps_one_dequantizer(view_.node(dequantizer)) && !constant(node.input(0)) &&
         !computed_constants_.contains(node.input(0));
}

/// What stands at a value with this Q or DQ.
End FusionGraph::end_at(int pair) const {
  const auto& node = view_.node(pair);
  End end{End::Kind::Quantized, integer_type(node), params_of(node), pair};
  const auto* scale = node.input_size() > 1 ? constant(node.input(1)) : nullptr;
  end.has_half_scale = scale && element_type(*scale) == ElementType::Float16;
  if (end.type == ElementType::Int8 && becomes_unsigned(node)) end.type = ElementType::UInt8;
  return end;
}

End FusionGraph::before(int index, int slot) const {
  const auto& node = view_.node(index);
  const std::string& value = slot < node.input_size() ? node.input(slot) : std::string();
  const int producer = view_.producer_of(value);
  if (producer >= 0 && is_dequantizer(view_.node(producer))) return end_at(producer);
  const auto moved = moved_.find(value);
  return moved == moved_.end() ? End{} : moved->second;
}

std::string FusionGraph::value_before(int index, int slot) const {
  std::string value = view_.node(index).input(slot);
  for (int steps = 0; steps < 2; ++steps) {
    const int producer = view_.producer_of(value);
    const bool is_pair = producer >= 0 && (is_dequantizer(view_.node(producer)) ||
                                           is_quantizer(view_.node(producer)));
    if (!is_pair) break;
    value = view_.node(producer).input(0);
  }
  return value;
}

/// The name under which the node's value goes on.
std::string FusionGraph::output_of(int index) const {
  std::string value = view_.node(index).output(0);
  for (int reader = sole_reader(value); reader >= 0 && is_gone(reader); reader = sole_reader(value))
    value = view_.node(reader).output(0);
  return value;
}

bool FusionGraph::gives_graph_output(int index) const {
  const auto& outputs = view_.node(index).output();
  return std::ranges::any_of(outputs,
                             [&](const auto& value) {
                               return view_.is_graph_output(value) || view_.is_captured(value);
                             }) ||
         view_.is_graph_output(output_of(index));
}

std::vector<End> FusionGraph::behind(int index) const {
  std::vector<End> ends;
  const auto& node = view_.node(index);
  for (int i = 0; i < node.output_size(); ++i) {
    const std::string value = i == 0 ? output_of(index) : node.output(i);
    if (const auto moved = moved_.find(value); moved != moved_.end()) {
      ends.push_back(moved->second);
      continue;
    }
    for (const Use& use : view_.uses_of(value)) {
      const auto& reader = view_.node(use.node);
      ends.push_back(is_quantizer(reader) && use.slot == 0 ? end_at(use.node) : End{});
    }
  }
  return ends;
}

int FusionGraph::clamp_behind(int index) const {
  if (view_.node(index).output_size() != 1) return -1;
  const int reader = sole_reader(output_of(index));
  const bool is_read_once = reader >= 0 && is_clamp(view_.node(reader)) && !is_gone(reader) &&
                            sole_reader(view_.node(reader).output(0)) >= 0;
  return is_read_once ? reader : -1;
}

int FusionGraph::sole_reader(const std::string& value) const {
  const auto uses = view_.uses_of(value);
  const bool is_seen = view_.is_graph_output(value) || view_.is_captured(value);
  return uses.size() == 1 && !is_seen ? uses.front().node : -1;
}

std::optional<std::pair<double, double>> FusionGraph::bounds_of(
    const onnx::NodeProto& clamp) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (clamp.op_type() == "Relu") return std::pair{0.0, kInfinity};
  std::pair bounds{double{float_attribute(clamp, "min", -std::numeric_limits<float>::infinity())},
                   double{float_attribute(clamp, "max", std::numeric_limits<float>::infinity())}};
  for (const int slot : {1, 2}) {
    if (slot >= clamp.input_size() || clamp.input(slot).empty()) continue;
    const onnx::TensorProto* bound = constant(clamp.input(slot));
    if (!bound || element_count(*bound) != 1) return std::nullopt;
    (slot == 1 ? bounds.first : bounds.second) = number_in(*bound);
  }
  return bounds;
}

bool FusionGraph::makes_superfluous(const onnx::NodeProto& clamp,
                                    const onnx::NodeProto& quantizer) const {
  const auto params = params_of(quantizer);
  const auto bounds = bounds_of(clamp);
  const ElementType type = integer_type(quantizer);
  if (!params || !bounds || (type != ElementType::UInt8 && type != ElementType::Int8)) return false;
  const IntegerRange range = full_range(type);
  const auto quantized = [&](double value) {
    if (std::isinf(value)) return value < 0 ? double{-1e9} : double{1e9};
    return std::nearbyint(value / params->scale) + params->zero_point;
  };
  return quantized(bounds->first) <= range.min && quantized(bounds->second) >= range.max;
}

/// The Q that alone reads `value`, or that was moved onto it; or -1.
int FusionGraph::quantizer_behind(const std::string& value) const {
  if (const auto moved = moved_.find(value); moved != moved_.end())
    return is_quantizer(view_.node(moved->second.node)) ? moved->second.node : -1;
  const int reader = sole_reader(value);
  return reader >= 0 && is_quantizer(view_.node(reader)) ? reader : -1;
}

void FusionGraph::drop_clamps() {
  for (int index = 0; index < view_.node_count(); ++index) {
    const auto& node = view_.node(index);
    if (!is_clamp(node)) continue;
    const int quantizer = quantizer_behind(node.output(0));
    is_gone_[static_cast<std::size_t>(index)] =
        quantizer >= 0 && sole_reader(node.input(0)) == index &&
        view_.producer_of(node.input(0)) >= 0 && makes_superfluous(node, view_.node(quantizer));
  }
}

/// Behind a DQ forwards, before a Q backwards.
void FusionGraph::move_quantizers() {
  const std::int64_t opset = model_.opset();
  for (int index = 0; index < view_.node_count(); ++index) {
    const auto& node = view_.node(index);
    if (!is_passed(node, opset) || view_.is_graph_output(node.output(0))) continue;
    const End input = before(index, 0);
    const auto uses = view_.uses_of(node.output(0));
    const bool is_read_as_integers = std::ranges::any_of(
        uses, [&](const Use& use) { return is_quantizer(view_.node(use.node)); });
    if (input.kind == End::Kind::Quantized && input.params && !uses.empty() && !is_read_as_integers)
      moved_[node.output(0)] = input;
  }
  for (int index = view_.node_count(); index-- > 0;) {
    const auto& node = view_.node(index);
    if (!is_passed(node, opset)) continue;
    const auto ends = behind(index);
    const int producer = view_.producer_of(node.input(0));
    const bool is_computed = producer >= 0 || view_.is_graph_input(node.input(0));
    if (ends.size() != 1 || ends.front().kind != End::Kind::Quantized || !ends.front().params ||
        before(index, 0).kind == End::Kind::Quantized || !is_computed ||
        sole_reader(node.input(0)) != index)
      continue;
    moved_[node.input(0)] = ends.front();
  }
}

}  // namespace qtool
