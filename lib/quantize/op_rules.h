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
  std::int64_t since_opset = 1;  ///< below it runtimes have no 8-bit form
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
};

/// Preset `onnxruntime` quantizes whatever has a row, every other one what an integer kernel can
/// read.
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

OpRule refine_conv_transpose(OpRule row, const NodeContext& context);
OpRule refine_gemm(OpRule row, const NodeContext& context);
OpRule refine_integer_matmul(OpRule row, const NodeContext& context);
OpRule refine_pad(OpRule row, const NodeContext& context);

}  // namespace qtool
