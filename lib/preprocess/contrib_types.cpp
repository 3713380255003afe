#include "preprocess/contrib_types.h"

#include <algorithm>
#include <iterator>

#include <onnx/defs/schema.h>

namespace qtool {
namespace {

using Context = onnx::InferenceContext;

/// One operator of ONNX Runtime's own, or one of ONNX's that a model uses before the opset that has
/// it.
struct ContribRow {
  std::string_view op_type;
  void (*infer)(Context&);
};

const onnx::TensorShapeProto* input_shape(const Context& context, std::size_t input) {
  return onnx::hasInputShape(context, input) ? &context.getInputType(input)->tensor_type().shape()
                                             : nullptr;
}

void copy_type(Context& context, std::size_t input, std::size_t output) {
  if (context.hasInput(input) && output < context.getNumOutputs()) {
    onnx::propagateElemTypeFromInputToOutput(context, input, output);
  }
}

void set_type(Context& context, std::size_t output, onnx::TensorProto::DataType type) {
  if (output < context.getNumOutputs()) onnx::updateOutputElemType(context, output, type);
}

void copy_shape(Context& context, std::size_t input, std::size_t output) {
  if (output < context.getNumOutputs() && onnx::hasInputShape(context, input)) {
    onnx::propagateShapeFromInputToOutput(context, input, output);
  }
}

void like_input(Context& context) {
  copy_type(context, 0, 0);
  copy_shape(context, 0, 0);
}

template <std::size_t input>
void type_of(Context& context) {
  copy_type(context, input, 0);
}

void is_float(Context& context) { set_type(context, 0, onnx::TensorProto::FLOAT); }

/// What ONNX infers for its operator `name`, whose attributes and first inputs the contrib operator
/// shares.
void like_onnx(Context& context, const char* name, int version) {
  onnx::OpSchemaRegistry::Schema(name, version, "")->GetTypeAndShapeInferenceFunction()(context);
}
void like_conv(Context& context) { like_onnx(context, "Conv", 11); }
void like_gemm(Context& context) { like_onnx(context, "Gemm", 13); }

bool is_set(const Context& context, const char* attribute) {
  const auto* found = context.getAttribute(attribute);
  return found && found->i() != 0;
}

/// MatMul after a swap of the last two axes of either side; with the batch axis moved too, only the
/// type is said.
void fused_matmul(Context& context) {
  copy_type(context, 0, 0);
  const auto* a = input_shape(context, 0);
  const auto* b = input_shape(context, 1);
  if (!a || !b || is_set(context, "transBatchA") || is_set(context, "transBatchB")) return;
  if (!is_set(context, "transA") && !is_set(context, "transB"))
    return like_onnx(context, "MatMul", 13);
  const int rank = a->dim_size();
  if (rank < 2 || b->dim_size() != rank) return;
  onnx::TensorShapeProto shape;
  for (int i = 0; i < rank - 2; ++i) {
    if (!a->dim(i).has_dim_value() || !b->dim(i).has_dim_value() ||
        a->dim(i).dim_value() != b->dim(i).dim_value()) {
      shape.add_dim();
    } else {
      *shape.add_dim() = a->dim(i);
    }
  }
  *shape.add_dim() = a->dim(is_set(context, "transA") ? rank - 1 : rank - 2);
  *shape.add_dim() = b->dim(is_set(context, "transB") ? rank - 2 : rank - 1);
  onnx::updateOutputShape(context, 0, shape);
}

/// The shape of the input with its last axis replaced by attribute N.
void matmul_n_bits(Context& context) {
  copy_type(context, 0, 0);
  const auto* shape = input_shape(context, 0);
  const auto* columns = context.getAttribute("N");
  if (!shape || shape->dim_size() == 0 || !columns) return;
  onnx::TensorShapeProto out = *shape;
  out.mutable_dim(out.dim_size() - 1)->Clear();
  out.mutable_dim(out.dim_size() - 1)->set_dim_value(columns->i());
  onnx::updateOutputShape(context, 0, out);
}

/// Inputs: data, skip, scales; outputs: normalized, mean, inverse deviation, data + skip.
void skip_normalization(Context& context) {
  for (const std::size_t output : {0, 3}) {
    copy_type(context, 0, output);
    copy_shape(context, 0, output);
  }
  set_type(context, 1, onnx::TensorProto::FLOAT);
  set_type(context, 2, onnx::TensorProto::FLOAT);
}

/// Outputs: normalized, mean, inverse deviation.
void layer_normalization(Context& context) {
  like_input(context);
  set_type(context, 1, onnx::TensorProto::FLOAT);
  set_type(context, 2, onnx::TensorProto::FLOAT);
}

/// Inputs: ids [batch, length], …, word embedding [vocabulary, width]; outputs: embedding, mask
/// index, sum.
void embed_layer_normalization(Context& context) {
  copy_type(context, 2, 0);
  set_type(context, 1, onnx::TensorProto::INT32);
  copy_type(context, 2, 2);
  const auto* ids = input_shape(context, 0);
  const auto* words = input_shape(context, 2);
  if (!ids || !words || ids->dim_size() != 2 || words->dim_size() != 2) return;
  onnx::TensorShapeProto shape = *ids;
  *shape.add_dim() = words->dim(1);
  onnx::updateOutputShape(context, 0, shape);
  if (context.getNumOutputs() > 2) onnx::updateOutputShape(context, 2, shape);
}

/// Input [batch, length, width], weights [width, q + k + v]; the width of v is a third unless
/// attribute qkv_hidden_sizes says.
void attention(Context& context) {
  copy_type(context, 0, 0);
  copy_type(context, 0, 1);
  const auto* data = input_shape(context, 0);
  const auto* weights = input_shape(context, 1);
  if (!data || !weights || data->dim_size() != 3 || weights->dim_size() != 2) return;
  onnx::TensorShapeProto shape = *data;
  auto& width = *shape.mutable_dim(2);
  width.Clear();
  const auto* widths = context.getAttribute("qkv_hidden_sizes");
  if (widths && widths->ints_size() == 3) {
    width.set_dim_value(widths->ints(2));
  } else if (weights->dim(1).has_dim_value()) {
    width.set_dim_value(weights->dim(1).dim_value() / 3);
  }
  onnx::updateOutputShape(context, 0, shape);
}

/// a, its scale and zero point, b, …: broadcast as ONNX's Add.
void qlinear_binary(Context& context) {
  copy_type(context, 0, 0);
  const auto* a = input_shape(context, 0);
  const auto* b = input_shape(context, 3);
  if (!a || !b) return;
  onnx::TensorShapeProto shape;
  onnx::bidirectionalBroadcastShapeInference(*a, *b, shape);
  onnx::updateOutputShape(context, 0, shape);
}

/// The output's zero point, where there is one, has its type.
void qgemm(Context& context) {
  if (context.hasInput(8)) {
    copy_type(context, 8, 0);
  } else {
    is_float(context);
  }
}

void quantize_linear(Context& context) {
  if (context.hasInput(2)) {
    copy_type(context, 2, 0);
  } else {
    set_type(context, 0, onnx::TensorProto::UINT8);
  }
  copy_shape(context, 0, 0);
}

void dequantize_linear(Context& context) {
  copy_type(context, 1, 0);
  copy_shape(context, 0, 0);
}

constexpr ContribRow kContribRows[] = {
    {"Attention", attention},
    {"BiasAdd", like_input},
    {"BiasGelu", like_input},
    {"BiasSoftmax", like_input},
    {"BiasSplitGelu", type_of<0>},
    {"DequantizeLinear", dequantize_linear},
    {"DynamicQuantizeMatMul", is_float},
    {"EmbedLayerNormalization", embed_layer_normalization},
    {"FastGelu", like_input},
    {"FusedConv", like_conv},
    {"FusedGemm", like_gemm},
    {"FusedMatMul", fused_matmul},
    {"GatherBlockQuantized", type_of<2>},
    {"Gelu", like_input},
    {"GroupNorm", like_input},
    {"LayerNormalization", layer_normalization},
    {"MatMulIntegerToFloat", is_float},
    {"MatMulNBits", matmul_n_bits},
    {"MultiHeadAttention", type_of<0>},
    {"NhwcFusedConv", type_of<0>},
    {"NhwcMaxPool", type_of<0>},
    {"QAttention", is_float},
    {"QGemm", qgemm},
    {"QLinearAdd", qlinear_binary},
    {"QLinearAveragePool", type_of<0>},
    {"QLinearConcat", type_of<1>},
    {"QLinearGlobalAveragePool", type_of<0>},
    {"QLinearLeakyRelu", like_input},
    {"QLinearMul", qlinear_binary},
    {"QLinearReduceMean", type_of<0>},
    {"QLinearSigmoid", like_input},
    {"QLinearSoftmax", like_input},
    {"QuantizeLinear", quantize_linear},
    {"QuickGelu", like_input},
    {"RotaryEmbedding", like_input},
    {"SimplifiedLayerNormalization", layer_normalization},
    {"SkipGroupNorm", like_input},
    {"SkipLayerNormalization", skip_normalization},
    {"SkipSimplifiedLayerNormalization", skip_normalization},
    {"TransposeMatMul", fused_matmul},
};
static_assert(std::ranges::is_sorted(kContribRows, {}, &ContribRow::op_type),
              "keep kContribRows sorted by op_type");

}  // namespace

bool infer_contrib_types(std::string_view op_type, onnx::InferenceContext& context) {
  const auto* row = std::ranges::lower_bound(kContribRows, op_type, {}, &ContribRow::op_type);
  if (row == std::end(kContribRows) || row->op_type != op_type) return false;
  row->infer(context);
  return true;
}

}  // namespace qtool
