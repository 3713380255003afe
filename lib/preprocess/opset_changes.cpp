#include "preprocess/opset_changes.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/error.h"
#include "model/attributes.h"
#include "model/float_values.h"

namespace qtool {
namespace {

[[noreturn]] void fail(const NodeConversion& at, const std::string& reason) {
  throw Error(ErrorKind::Input, describe(at.node) + ": cannot be raised to opset " +
                                    std::to_string(at.opset) + ", " + reason);
}

/// The stem of names for what a node needs.
std::string stem(const onnx::NodeProto& node) {
  return node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name();
}

/// Adds an initializer to the node's graph; its name.
std::string add_initializer(NodeConversion& at, const std::string& role, ElementType type,
                            std::span<const std::int64_t> shape, std::span<const std::byte> bytes) {
  const std::string name = at.names.unique(stem(at.node) + "_" + role);
  *at.graph.add_initializer() = make_tensor(name, type, shape, bytes);
  return name;
}

std::string add_int64s(NodeConversion& at, const std::string& role,
                       std::span<const std::int64_t> values) {
  const std::array shape{static_cast<std::int64_t>(values.size())};
  return add_initializer(at, role, ElementType::Int64, shape, std::as_bytes(values));
}

std::string add_floats(NodeConversion& at, const std::string& role, std::span<const float> values) {
  const std::array shape{static_cast<std::int64_t>(values.size())};
  return add_initializer(at, role, ElementType::Float, shape, std::as_bytes(values));
}

/// Puts `value` into input `slot`, with omitted inputs before it where there are none.
void set_input(onnx::NodeProto& node, int slot, const std::string& value) {
  while (node.input_size() <= slot) node.add_input("");
  node.set_input(slot, value);
}

/// Moves a list of integers from attribute to input; nothing where the node does not give it.
void ints_to_input(NodeConversion& at, const std::string& name, int slot) {
  const auto* attribute = find_attribute(at.node, name);
  if (!attribute) return;
  const std::vector<std::int64_t> values(attribute->ints().begin(), attribute->ints().end());
  set_input(at.node, slot, add_int64s(at, name, values));
  drop_attribute(at.node, name);
}

void axes_to_input(NodeConversion& at) { ints_to_input(at, "axes", 1); }
void split_to_input(NodeConversion& at) { ints_to_input(at, "split", 1); }

const onnx::TensorProto* constant_input(const NodeConversion& at, int slot) {
  const auto* found =
      slot < at.node.input_size() ? at.initializers.find(at.node.input(slot)) : nullptr;
  return found ? *found : nullptr;
}

const onnx::TypeProto_Tensor* input_type(const NodeConversion& at, int slot) {
  const auto* found = slot < at.node.input_size() ? at.types.find(at.node.input(slot)) : nullptr;
  return found && (*found)->has_tensor_type() ? &(*found)->tensor_type() : nullptr;
}

ElementType input_element_type(const NodeConversion& at, int slot) {
  if (const auto* tensor = constant_input(at, slot)) return element_type(*tensor);
  const auto* type = input_type(at, slot);
  return type ? static_cast<ElementType>(type->elem_type()) : ElementType::Undefined;
}

/// A scalar initializer of the type of input 0, for attributes that became inputs of that type.
std::string add_scalar_like_input(NodeConversion& at, const std::string& role, float value) {
  const ElementType type = input_element_type(at, 0);
  if (!is_encodable(type)) fail(at, "the type of its input is not known");
  return add_initializer(at, role, type, {}, encode_floats(type, std::array<double, 1>{value}));
}

void clip_11(NodeConversion& at) {
  int slot = 1;
  for (const char* name : {"min", "max"}) {
    if (const auto* attribute = find_attribute(at.node, name)) {
      set_input(at.node, slot, add_scalar_like_input(at, name, attribute->f()));
      drop_attribute(at.node, name);
    }
    ++slot;
  }
}

void pad_11(NodeConversion& at) {
  ints_to_input(at, "pads", 1);
  const float value = float_attribute(at.node, "value", 0);
  drop_attribute(at.node, "value");
  if (value != 0) set_input(at.node, 2, add_scalar_like_input(at, "value", value));
}

void slice_10(NodeConversion& at) {
  ints_to_input(at, "starts", 1);
  ints_to_input(at, "ends", 2);
  ints_to_input(at, "axes", 3);
}

void top_k_10(NodeConversion& at) {
  const std::array k{int_attribute(at.node, "k", 0)};
  set_input(at.node, 1, add_int64s(at, "k", k));
  drop_attribute(at.node, "k");
}

/// The mask became bool; where nobody reads it, it goes.
void dropout_10(NodeConversion& at) {
  if (at.node.output_size() < 2) return;
  const int* uses = at.use_counts.find(at.node.output(1));
  if (uses && *uses > 0) fail(at, "its mask is read as numbers");
  at.node.mutable_output()->DeleteSubrange(1, 1);
}

void dropout_12(NodeConversion& at) {
  const float ratio = float_attribute(at.node, "ratio", 0.5F);
  set_input(
      at.node, 1,
      add_initializer(at, "ratio", ElementType::Float, {}, std::as_bytes(std::span(&ratio, 1))));
  drop_attribute(at.node, "ratio");
}

void batch_normalization_9(NodeConversion& at) {
  if (int_attribute(at.node, "spatial", 1) == 0) fail(at, "its spatial=0 has no counterpart");
  drop_attribute(at.node, "spatial");
}

/// More than one output meant training.
void batch_normalization_14(NodeConversion& at) {
  for (int i = 1; i < at.node.output_size(); ++i) {
    if (!at.node.output(i).empty()) fail(at, "it is in training form");
  }
  at.node.mutable_output()->DeleteSubrange(1, at.node.output_size() - 1);
}

void upsample_9(NodeConversion& at) {
  const auto* attribute = find_attribute(at.node, "scales");
  if (!attribute) fail(at, "it has no attribute 'scales'");
  const std::vector<float> scales(attribute->floats().begin(), attribute->floats().end());
  set_input(at.node, 1, add_floats(at, "scales", scales));
  drop_attribute(at.node, "scales");
}

void upsample_10(NodeConversion& at) { at.node.set_op_type("Resize"); }

/// The constant scales of a Resize, or nothing.
std::vector<float> constant_scales(const NodeConversion& at) {
  const auto* scales = constant_input(at, 1);
  if (!scales || element_type(*scales) != ElementType::Float) return {};
  const std::string& bytes = scales->raw_data();
  std::vector<float> values(bytes.size() / sizeof(float));
  std::copy_n(bytes.data(), values.size() * sizeof(float), reinterpret_cast<char*>(values.data()));
  return values;
}

/// Input, empty roi and scales: opset 11 put the second between.
void set_resize_inputs(NodeConversion& at, onnx::NodeProto& node, const std::string& scales) {
  set_input(node, 1, add_floats(at, "roi", {}));
  set_input(node, 2, scales);
}

/// To the nearest, opset 10 took the value above on axes that shrink and the one below on those
/// that grow. A node of opset 11 has one rule for all axes: it gets those that grow, and one
/// before it those that shrink.
void resize_nearest_11(NodeConversion& at) {
  const auto shrinks = [](float scale) { return scale < 1; };
  const auto grows = [](float scale) { return scale > 1; };
  std::vector<float> scales = constant_scales(at);
  if (std::ranges::none_of(scales, grows) || std::ranges::none_of(scales, shrinks)) {
    set_string(at.node, "nearest_mode", std::ranges::any_of(scales, shrinks) ? "ceil" : "floor");
    return;
  }
  set_string(at.node, "nearest_mode", "floor");
  std::vector<float> shrinking = scales;
  std::ranges::replace_if(shrinking, grows, 1.0F);
  std::ranges::replace_if(scales, shrinks, 1.0F);
  auto& first = at.before.emplace_back(at.node);
  first.set_name(at.names.unique(stem(at.node) + "_Resize"));
  first.set_output(0, at.names.unique(at.node.output(0) + "_shrunk"));
  set_string(first, "nearest_mode", "ceil");
  set_resize_inputs(at, first, add_floats(at, "shrinking", shrinking));
  at.node.set_input(0, first.output(0));
  at.node.set_input(1, add_floats(at, "growing", scales));
}

void resize_11(NodeConversion& at) {
  set_string(at.node, "coordinate_transformation_mode", "asymmetric");
  if (string_attribute(at.node, "mode", "nearest") == "nearest") resize_nearest_11(at);
  const std::string scales = at.node.input_size() > 1 ? at.node.input(1) : std::string();
  set_resize_inputs(at, at.node, scales);
}

void scatter_11(NodeConversion& at) { at.node.set_op_type("ScatterElements"); }

void scan_9(NodeConversion& at) { fail(at, "opset 8's Scan over a batch has no counterpart"); }

/// The one axis from `first` on that is not known to be of size 1, or `first` where all are;
/// nothing where there are several.
std::optional<int> only_wide_axis(const onnx::TensorShapeProto& shape, int first) {
  int axis = first;
  int wide = 0;
  for (int i = first; i < shape.dim_size(); ++i) {
    if (shape.dim(i).has_dim_value() && shape.dim(i).dim_value() == 1) continue;
    axis = i;
    ++wide;
  }
  return wide <= 1 ? std::optional(axis) : std::nullopt;
}

onnx::NodeProto make_node(NodeConversion& at, const std::string& op_type,
                          const std::vector<std::string>& inputs) {
  onnx::NodeProto node;
  node.set_op_type(op_type);
  node.set_name(at.names.unique(stem(at.node) + "_" + op_type));
  for (const auto& input : inputs) node.add_input(input);
  return node;
}

/// Up to opset 12 everything from `axis` on was one axis; from 13 on it is `axis` alone.
void softmax_13(NodeConversion& at) {
  std::int64_t axis = int_attribute(at.node, "axis", 1);
  const auto* type = input_type(at, 0);
  if (type && type->has_shape()) {
    const auto& shape = type->shape();
    const std::int64_t first = axis < 0 ? axis + shape.dim_size() : axis;
    if (first >= 0 && first < shape.dim_size()) {
      if (const auto only = only_wide_axis(shape, static_cast<int>(first)))
        return set_int(at.node, "axis", *only == shape.dim_size() - 1 ? -1 : *only);
    }
  }
  const std::string output = at.node.output(0);
  auto& shape = at.before.emplace_back(make_node(at, "Shape", {at.node.input(0)}));
  shape.add_output(at.names.unique(output + "_shape"));
  auto& flatten = at.before.emplace_back(make_node(at, "Flatten", {at.node.input(0)}));
  flatten.add_output(at.names.unique(output + "_flat_input"));
  set_int(flatten, "axis", axis);
  at.node.set_input(0, flatten.output(0));
  at.node.set_output(0, at.names.unique(output + "_flat"));
  set_int(at.node, "axis", -1);
  at.after.emplace_back(make_node(at, "Reshape", {at.node.output(0), at.before.front().output(0)}))
      .add_output(output);
}

void roi_align_16(NodeConversion& at) {
  set_string(at.node, "coordinate_transformation_mode", "output_half_pixel");
}

void split_18(NodeConversion& at) {
  if (at.node.input_size() > 1 && !at.node.input(1).empty()) return;
  set_int(at.node, "num_outputs", at.node.output_size());
}

void grid_sample_20(NodeConversion& at) {
  const std::string mode = string_attribute(at.node, "mode", "bilinear");
  if (mode == "bilinear") set_string(at.node, "mode", "linear");
  if (mode == "bicubic") set_string(at.node, "mode", "cubic");
}

void dft_20(NodeConversion& at) {
  const std::int64_t axis = int_attribute(at.node, "axis", 1);
  set_input(
      at.node, 2,
      add_initializer(at, "axis", ElementType::Int64, {}, std::as_bytes(std::span(&axis, 1))));
  drop_attribute(at.node, "axis");
}

/// The checker of ONNX takes the older form for deprecated, so that no model with it gets here.
void group_normalization_21(NodeConversion& at) {
  fail(at, "scale and bias per group have no counterpart");
}

/// Sorted by op_type, then opset.
constexpr OpsetChange kChanges[] = {
    {"BatchNormalization", 9, batch_normalization_9},
    {"BatchNormalization", 14, batch_normalization_14},
    {"Clip", 11, clip_11},
    {"DFT", 20, dft_20},
    {"Dropout", 10, dropout_10},
    {"Dropout", 12, dropout_12},
    {"GridSample", 20, grid_sample_20},
    {"GroupNormalization", 21, group_normalization_21},
    {"Hardmax", 13, softmax_13},
    {"LogSoftmax", 13, softmax_13},
    {"Pad", 11, pad_11},
    {"ReduceL1", 18, axes_to_input},
    {"ReduceL2", 18, axes_to_input},
    {"ReduceLogSum", 18, axes_to_input},
    {"ReduceLogSumExp", 18, axes_to_input},
    {"ReduceMax", 18, axes_to_input},
    {"ReduceMean", 18, axes_to_input},
    {"ReduceMin", 18, axes_to_input},
    {"ReduceProd", 18, axes_to_input},
    {"ReduceSum", 13, axes_to_input},
    {"ReduceSumSquare", 18, axes_to_input},
    {"Resize", 11, resize_11},
    {"RoiAlign", 16, roi_align_16},
    {"Scan", 9, scan_9},
    {"Scatter", 11, scatter_11},
    {"Slice", 10, slice_10},
    {"Softmax", 13, softmax_13},
    {"Split", 13, split_to_input},
    {"Split", 18, split_18},
    {"Squeeze", 13, axes_to_input},
    {"TopK", 10, top_k_10},
    {"Unsqueeze", 13, axes_to_input},
    {"Upsample", 9, upsample_9},
    {"Upsample", 10, upsample_10},
};
static_assert(std::ranges::is_sorted(kChanges, {},
                                     [](const OpsetChange& row) {
                                       return std::pair(row.op_type, row.opset);
                                     }),
              "keep kChanges sorted by op_type and opset");

/// Operators that an opset extended: new types, optional inputs, and attributes whose default is
/// the old meaning.
struct Extensions {
  std::int64_t opset;
  std::string_view op_types;  ///< with a space on either side of each
};

constexpr Extensions kExtensions[] = {
    {8, " Max MaxPool Mean Min Sum "},
    {9, " Cast Constant Flatten Gemm Greater Less MatMul PRelu "},
    {10, " AveragePool MaxPool "},
    {11,
     " ArgMax ArgMin AveragePool Compress Concat Constant Conv ConvTranspose DepthToSpace Equal "
     "Flatten Gather Gemm"
     " Hardmax If LogSoftmax Loop LpPool MaxPool MaxUnpool NonMaxSuppression OneHot ReduceL1 "
     "ReduceL2 ReduceLogSum"
     " ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Scan "
     "Slice Softmax Split"
     " Squeeze TopK Unsqueeze "},
    {12, " ArgMax ArgMin Clip Constant GatherND Max MaxPool Min Pow ReduceMax ReduceMin "},
    {13,
     " Abs Add ArgMax ArgMin Cast Ceil Clip Concat Constant DepthToSpace DequantizeLinear Div "
     "Dropout Equal Erf Exp"
     " Expand Flatten Floor Gather GatherElements GatherND Gemm Greater Identity If IsNaN LRN Less "
     "Log Loop MatMul Max"
     " Mean MeanVarianceNormalization Min Mod Mul Neg NegativeLogLikelihoodLoss NonZero Pad Pow "
     "QuantizeLinear"
     " Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
     "ReduceProd"
     " ReduceSumSquare Relu Reshape Resize ScatterElements ScatterND Shape Sigmoid Sign Size Slice"
     " SoftmaxCrossEntropyLoss SpaceToDepth Sqrt Sub Sum Tanh Tile Transpose "},
    {14, " Add CumSum Div GRU Identity LSTM Mul RNN Relu Reshape Sub "},
    {15, " BatchNormalization Pow Shape "},
    {16,
     " GreaterOrEqual Identity If LeakyRelu LessOrEqual Loop PRelu Scan ScatterElements ScatterND "
     "Where "},
    {18, " LpPool OptionalGetElement OptionalHasElement Pad Resize ScatterElements ScatterND "},
    {19,
     " AveragePool Cast CastLike Constant DequantizeLinear Equal Identity If Loop Pad "
     "QuantizeLinear Reshape Resize"
     " Scan Shape Size "},
    {20, " ConstantOfShape IsInf IsNaN ReduceMax ReduceMin "},
    {21,
     " Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad "
     "QLinearMatMul"
     " QuantizeLinear Reshape Scan Shape Size Squeeze Transpose Unsqueeze "},
    {22,
     " Acos Acosh Asin Asinh Atan Atanh AveragePool Bernoulli Conv ConvTranspose Cos Cosh "
     "DeformConv Det Dropout Elu"
     " EyeLike GRU GlobalAveragePool GlobalLpPool GlobalMaxPool GridSample HardSigmoid HardSwish "
     "InstanceNormalization"
     " LSTM LpNormalization LpPool MaxPool MaxRoiPool MaxUnpool Mish Multinomial "
     "NegativeLogLikelihoodLoss RNN"
     " RandomNormal RandomNormalLike RandomUniform RandomUniformLike RoiAlign Round Selu Sin Sinh "
     "Softplus Softsign Tan"
     " ThresholdedRelu "},
    {23,
     " Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop Pad "
     "QuantizeLinear Reshape Scan"
     " Shape Size Squeeze Transpose Unsqueeze "},
    {24,
     " Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop "
     "Pad QuantizeLinear"
     " Reshape Scan Shape Size SplitToSequence Squeeze TopK Transpose Unsqueeze "},
    {25,
     " Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop "
     "Pad QuantizeLinear"
     " Reshape Scan Shape Size Squeeze Transpose Unsqueeze "},
};

}  // namespace

const OpsetChange* find_opset_change(std::string_view op_type, std::int64_t opset) {
  const auto key = [](const OpsetChange& row) { return std::pair(row.op_type, row.opset); };
  const auto* row = std::ranges::lower_bound(kChanges, std::pair(op_type, opset), {}, key);
  return row != std::end(kChanges) && key(*row) == std::pair(op_type, opset) ? row : nullptr;
}

bool is_extension(std::string_view op_type, std::int64_t opset) {
  const auto* row = std::ranges::find(kExtensions, opset, &Extensions::opset);
  if (row == std::end(kExtensions)) return false;
  std::string word(1, ' ');
  word.append(op_type).append(1, ' ');
  return row->op_types.find(word) != std::string_view::npos;
}

}  // namespace qtool
