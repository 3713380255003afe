#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/config.h"
#include "model/graph_view.h"
#include "model/model.h"

namespace qtool {

/// What an input of an operator is to quantization.
enum class InputRole {
  Float,       ///< stays as it is: shapes, indices, bounds, normalization parameters
  Activation,  ///< quantized with the activation type, whether computed or constant
  Weight,      ///< quantized with the weight type where constant, as an Activation where computed
  Bias,        ///< int32 with scale = scale of input 0 x scale of input 1
};

struct InputRule {
  InputRole role = InputRole::Float;
  /// For weights: axis with one scale per channel; negative counts from the end.
  std::int8_t channel_axis = 0;
  /// For weights: blocks of the axis that is summed over may have a scale each.
  bool can_have_blocks = false;
};

/// Where an output's scale and zero point come from.
enum class OutputParams {
  Own,                 ///< measured
  SharedWithInput,     ///< those of input 0: the operator only moves values
  FoldedIntoProducer,  ///< measured; the operator clamps, and goes away where the quantizer already
                       ///< clamps the same
  UnitInterval,        ///< the range is [0, 1] by definition
  Rescaled,            ///< the input's integers, with another scale and zero point
};

/// When a rule applies at all.
enum class Entry {
  Always,      ///< it multiplies or stores weights: there is something to gain
  OutputRead,  ///< where a quantized operator reads its output: between float operators 8 bits only
               ///< cost
  QuantizedInput,  ///< where input 0 is quantized already: the operator gains nothing by itself
  ConstantOrQuantizedInput,  ///< also where input 0 is constant
  QuantizedInputs,           ///< where all Activation inputs are quantized already
};

/// Where operators may run on integers: a set of runtimes, one bit each.
using RuntimeSet = std::uint8_t;
constexpr RuntimeSet kCpuProvider = 1;  ///< ONNX Runtime's CPU provider
constexpr RuntimeSet kTensorRt = 2;
constexpr RuntimeSet kMiGraphX = 4;
constexpr RuntimeSet kOpenVino = 8;  ///< its CPU plugin
constexpr RuntimeSet kQnn = 16;      ///< the HTP backend
constexpr RuntimeSet kEveryRuntime = 0xFF;

struct NodeContext {
  const onnx::NodeProto& node;
  const GraphView& graph;
  const Model& model;
  std::int64_t opset;
};

/// What qtool knows of quantizing one operator.
struct OpRule {
  std::string_view op_type;
  std::string_view domain = {};
  std::array<InputRule, 3> inputs = {};
  InputRule other_inputs = {};  ///< inputs beyond the third
  OutputParams outputs = OutputParams::Own;
  Entry entry = Entry::Always;
  /// Outputs are quantized also where only float operators read them: the integer kernel gives
  /// integers.
  bool gives_integers = false;
  /// The kernel of ONNX Runtime that reads integers and gives floats takes several scales only for
  /// the columns of one matrix, its second input. With others models load, and runs of them fail or
  /// are wrong: then the output is quantized too, or, where it cannot be, there is one scale.
  bool floats_need_columns = false;
  int data_slot = 0;             ///< the input that it moves, selects or rescales
  std::int64_t since_opset = 1;  ///< below it runtimes have no 8-bit form
  /// The runtimes that have an integer kernel. In all others a pair would only cost.
  RuntimeSet integer_on = kEveryRuntime;
  /// Why the kernels of `runtimes` cannot do this node in integers, or nothing.
  std::string (*obstacle)(const NodeContext& context, RuntimeSet runtimes) = nullptr;
  /// It computes floats, and integers are made of its outputs where operators read such.
  bool computes_in_float = false;
  /// onnxruntime.quantization has no rule for it.
  bool is_own = false;
  /// Groups of output channels that share the weight's channel scales (ConvTranspose).
  std::int64_t bias_groups = 1;
  /// Factor of the bias (beta of Gemm).
  float bias_factor = 1;
  OpRule (*refine)(OpRule row, const NodeContext& context) = nullptr;

  const InputRule& input(int slot) const {
    return slot < static_cast<int>(inputs.size()) ? inputs[static_cast<std::size_t>(slot)]
                                                  : other_inputs;
  }
};

/// A way to place Q and DQ: which operators take part, and how. The planner follows it.
struct Placement {
  std::span<const OpRule> rules;
  /// Plans are those of onnxruntime.quantization; of the rules it only counts which there are.
  bool follows_onnxruntime = false;
  /// Weights with one scale per tensor have their mean error taken out of the bias.
  bool corrects_biases = false;
  /// Where the model is to run: what has no integer kernel there stays in float. None: anywhere.
  RuntimeSet runtime = 0;
  /// Layers whose second input is computed stay in float.
  bool needs_constant_weights = false;
  /// A Conv with at most so many input channels stays in float, unless a MaxPool follows.
  std::int64_t float_channels = 0;
  /// Behind such a Conv, depthwise and 1x1 Convs of at most so many channels stay in float as well.
  std::int64_t float_channels_behind = 0;
  /// MatMul and Gemm give integers only where a layer reads nothing but moved or clamped values of
  /// theirs: their kernels give floats as cheaply, and those keep residuals exact.
  bool sums_in_float = false;
  /// Layers stay in float where one scale is too coarse for most channels of their weight.
  bool spares_noisy_weights = false;
  /// Factors and addends of quantized values go into the scale and the zero point of their readers.
  bool rescales_for_free = false;
  /// Operators that work on several values are quantized where one of them comes in integers: a
  /// quantizer for the others costs less than floats for all.
  bool joins_mixed_inputs = false;
  /// The runtime moves a quantizer of one scale before a MaxPool on floats, whose kernel for
  /// integers with channels first is slow; not one of several scales.
  bool holds_quantizers = false;
  /// A Gelu that is computed of a quantized value is one operator: the runtime makes one of its
  /// parts only as long as they all read one value, and gives each its own DQ.
  bool fuses_gelu = false;
  /// Products are added two by two in 16 bits: weights that could overflow those have wider scales.
  bool adds_in_pairs = false;
  /// Layers give integers only where an operator reads such: their kernels end in floats as well,
  /// and a quantizer behind one belongs to its reader.
  bool layers_give_floats = false;
  /// Of what an Add adds, the output of a layer that it alone reads stays as the layer gives it:
  /// the runtime adds before it rounds.
  bool adds_to_layers = false;
  /// Every operator is quantized, whatever it does and whoever reads it: the device has no others.
  bool takes_everything = false;
};

/// Preset `onnxruntime` quantizes whatever has a row, every other one what an integer kernel of its
/// target can read: docs/presets.md.
const Placement& placement_for(Preset preset);

/// The row of `op_type`, or nullptr: the operator stays in float.
const OpRule* find_rule(const Placement& placement, std::string_view op_type,
                        std::string_view domain);

/// Why values of `type` must not stand right behind an operator, though it takes them dequantized:
/// runtimes run it on the quantized ones, or fold it into the quantizer, and cannot with these.
/// Empty where they can.
std::string obstacle_behind(std::string_view op_type, ElementType type);
/// The same of values right before it.
std::string obstacle_before(std::string_view op_type, ElementType type);
/// The same for one value of a graph, behind the node that makes it and before those that read it.
std::string obstacle_by_maker(const GraphView& graph, const std::string& value, ElementType type);
std::string obstacle_by_readers(const GraphView& graph, const std::string& value, ElementType type);

/// Whether an operator only moves or selects values, so that a quantizer may as well stand on its
/// other side.
bool passes_quantizers(std::string_view op_type);

/// The rule for operators that have no row but that the user asked for: every float input and
/// output is an activation.
const OpRule& generic_rule();

/// An axis that may count from the end, as one from the front.
inline std::int64_t normalized_axis(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

/// For layers that stay in float though operators behind them read integers.
const OpRule& float_layer_rule();

/// For Mul, Div, Add and Sub of a number, which is in the input that is not `data_slot`.
const OpRule& rescaling_rule(int data_slot);

std::string resize_obstacle(const NodeContext& context, RuntimeSet runtimes);
OpRule refine_conv_transpose(OpRule row, const NodeContext& context);
OpRule refine_gemm(OpRule row, const NodeContext& context);
OpRule refine_integer_matmul(OpRule row, const NodeContext& context);
OpRule refine_pad(OpRule row, const NodeContext& context);

}  // namespace qtool
