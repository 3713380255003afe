#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <onnx/onnx_pb.h>

#include "quantize/plan.h"

namespace qtool {

/// One or more inputs of an integer operator, in terms of the float operator's.
struct Operand {
  enum class Part {
    AsIs,        ///< input `slot` as it is; empty where there is none
    Activation,  ///< its integers, scale and zero point
    Weight,      ///< the same; quantized as weights are where it is constant
    Integers,    ///< of these the integers alone
    Scale,
    ZeroPoint,
    Bias,  ///< int32 with scale = scale of input 0 x scale of input 1; empty where there is none
    PadValue,  ///< one value among those of input 0; without one, the zero point of input 0
    All,       ///< integers, scale and zero point of every input
    Output,    ///< scale and zero point of the output
  };
  Part part = Part::AsIs;
  int slot = 0;
};

/// When preset `onnxruntime` takes the integer form; every other preset takes it where all that the
/// form needs is quantized.
enum class Joining {
  Always,
  QuantizedInput,  ///< where input 0 is quantized already
  ConstantInput,   ///< where input 0 is constant
  WhenForced,      ///< with ForceQuantizeNoInputCheck
};

/// How the output is quantized.
enum class OutputForm {
  Own,         ///< by its range
  AsInput,     ///< as input 0: the operator only moves or selects values
  OwnOrInput,  ///< by its range, as input 0 where it has none
  UnitSteps,   ///< in steps of 1/256 from 0: the operator gives values from 0 to 1
  Float,       ///< not at all
};

/// What becomes of an operator where operators work on integers.
struct IntegerForm {
  std::string_view op_type;
  std::string_view domain = {};
  std::string_view integer_op;  ///< empty: the operator itself takes integers
  std::string_view integer_domain = {};
  std::span<const Operand> operands;
  OutputForm output = OutputForm::Own;
  Joining joining = Joining::Always;
  std::int64_t since_opset = 1;
  std::string_view output_suffix = "_quantized";
  std::string_view dropped_attribute = {};
  /// Whether preset `onnxruntime` stores the output's scale behind those of the inputs.
  bool has_late_output = false;
};

/// Sorted by op_type.
std::span<const IntegerForm> integer_forms();

/// The integer form of an operator, or nullptr.
const IntegerForm* find_integer_form(std::string_view op_type, std::string_view domain);

/// Whether the form reads `slot` in integers.
bool takes_integers(const IntegerForm& form, int slot);

/// The integer operator of `original`: name, type, domain and attributes; its inputs and outputs
/// are still missing.
onnx::NodeProto integer_node(const IntegerForm& form, const onnx::NodeProto& original,
                             std::int64_t opset);

/// Why a node cannot take `form` though all its tensors are quantized, or nothing: a type,
/// attribute or scale that the integer kernels do not know.
std::string form_obstacle(const IntegerForm& form, const onnx::NodeProto& node,
                          const NodeForm& planned, std::span<const TensorPlan> tensors);

}  // namespace qtool
