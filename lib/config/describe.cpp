#include "config/describe.h"

#include "config/algorithm.h"
#include "config/kept_io_types.h"
#include "config/tensor_override.h"

namespace qtool {
namespace {

constexpr double kLargest = 9007199254740992;  // 2^53: what every JSON reader holds exactly

Rule at_least(double min) { return {.min = min, .max = kLargest}; }
Rule from_to(double min, double max) { return {.min = min, .max = max}; }
Rule above_up_to(double min, double max) { return {.min = min, .max = max, .above_min = true}; }
Rule above(double min) { return {.min = min, .above_min = true}; }
Rule one_of(std::vector<std::int64_t> values) { return {.one_of = std::move(values)}; }
Rule names(std::string_view noun, std::vector<std::string> known) {
  return {.noun = noun, .known = std::move(known)};
}
Rule node_patterns() { return {.is_node_pattern = true}; }

}  // namespace

void describe(KeyList& keys, ModelConfig& c) {
  keys.add("input", c.input, "The model to read.");
  keys.add("output", c.output, "The model to write.");
  keys.add("external_data", c.external_data,
           "Whether large tensors go to a file beside the model: auto (beyond 2 GB, or where the "
           "input has it), always or never.");
  keys.add("external_data_file", c.external_data_file,
           "Name of that file; null: the output's name and `.data`.");
  keys.add("external_data_threshold", c.external_data_threshold,
           "Tensors of at least so many bytes go there.", at_least(0));
}

void describe(KeyList& keys, PreprocessConfig& c) {
  keys.add("enabled", c.enabled, "Whether the model is pre-processed before it is quantized.");
  keys.add("simplify", c.simplify,
           "Removes nodes that do nothing or the same twice, and folds constants into layers.");
  keys.add("fold_constants", c.fold_constants, "Computes what depends on constants only.");
  keys.add("symbolic_shape", c.symbolic_shape, "Infers shapes with their symbolic dimensions.");
  keys.add("optimization", c.optimization,
           "ONNX Runtime's own graph optimizations: none, basic or extended.");
  keys.add(
      "fusions", c.fusions,
      "Groups of nodes to replace by one operator, of ONNX Runtime's own where the opset has none.",
      names("fusion",
            {"gelu", "layernorm", "lpnorm", "space_to_depth", "silu", "rmsnorm", "attention"}));
  keys.add("opset", c.opset, "The opset to convert to; null: as high as the result needs.",
           from_to(1, 1000));
  keys.add("dims", c.dims, "Symbolic dimension and the size to give it.", at_least(1));
  keys.add("override_shapes", c.override_shapes, "Graph input and the shape to give it.",
           at_least(1));
  keys.add("inputs_to_make_channel_last", c.inputs_to_make_channel_last,
           "Graph inputs to turn from NCHW to NHWC.");
  keys.add("outputs_to_make_channel_last", c.outputs_to_make_channel_last,
           "Graph outputs to turn from NCHW to NHWC.");
  keys.add("auto_merge", c.auto_merge,
           "Dimensions of inner values that must be equal get one name.");
  keys.add("int_max", c.int_max, "A Slice that ends at so much or more ends with its axis.",
           at_least(1));
  keys.add("guess_output_rank", c.guess_output_rank,
           "What an unknown operator makes has the rank of its first input.");
}

void describe(KeyList& keys, CalibrationConfig& c) {
  keys.add("data", c.data, "Folder with the calibration samples.");
  keys.add("max_samples", c.max_samples, "Only the first so many samples are used; null: all.",
           at_least(1));
  keys.add("batch", c.batch,
           "So many samples are joined to one run where the model's batch is free; null: none.",
           at_least(1));
  keys.add("method", c.method, "How a tensor's range follows from its values.");
  keys.add("percentile", c.percentile,
           "Percent of the values inside the range, for method percentile.", above_up_to(0, 100));
  keys.add("num_bins", c.num_bins, "Bins of a histogram.", from_to(1, 1 << 20));
  keys.add("num_quantized_bins", c.num_quantized_bins,
           "Bins after quantization, for method entropy.", from_to(1, 1 << 16));
  keys.add("symmetric", c.symmetric, "Ranges are widened to be symmetric about zero.");
  keys.add("moving_average", c.moving_average,
           "Method minmax averages the extremes of the samples; with stride, of one stride after "
           "the other.");
  keys.add("averaging_constant", c.averaging_constant,
           "Weight of the newest stride in that average.", from_to(0, 1));
  keys.add("stride", c.stride,
           "So many samples at a time make one step of a moving average; null: no steps.",
           at_least(1));
  keys.add("per_channel", c.per_channel,
           "Extremes per channel (axis 1) in table and cache, for calibrate.");
  keys.add("table", c.table,
           "A table of calibrate to read ranges from instead of running the data.");
  keys.add("cache", c.cache,
           "ONNX Runtime's JSON calibration cache: read if it is there, else written.");
  keys.add("allow_nonfinite", c.allow_nonfinite,
           "NaN and infinity in samples are no error; they count for nothing.");
  keys.add(
      "max_clipped", c.max_clipped,
      "Gate of calibrate --coverage: greatest share of a tensor's values outside of its range.",
      from_to(0, 1));
  keys.add("min_range_used", c.min_range_used,
           "Gate of calibrate --coverage: least share of its range that a tensor's values take.",
           from_to(0, 1));
}

void describe(KeyList& keys, ExtraOptions& o) {
  keys.add("ActivationSymmetric", o.activation_symmetric,
           "Activations are quantized symmetrically about zero.");
  keys.add("WeightSymmetric", o.weight_symmetric,
           "Weights are quantized symmetrically about zero; null: where their type is signed.");
  keys.add("ActivationRestrictedAsymmetric", o.activation_restricted_asymmetric,
           "Activations have their zero point at the type's minimum or middle only.");
  keys.add("MinimumRealRange", o.minimum_real_range, "Narrower ranges are widened to this width.",
           at_least(0));
  keys.add("TensorQuantOverrides", o.tensor_quant_overrides,
           "Tensor and how to quantize it: a list of objects, one or one per channel.");
  keys.add("ForceQuantizeNoInputCheck", o.force_quantize_no_input_check,
           "Operators that only move values are quantized also where their input is not.");
  keys.add("OpTypesToExcludeOutputQuantization", o.op_types_to_exclude_output_quantization,
           "Operator types whose outputs stay in float.");
  keys.add("AddQDQPairToWeight", o.add_qdq_pair_to_weight,
           "Weights stay in float behind a Q/DQ pair.");
  keys.add("QuantizeBias", o.quantize_bias, "Biases become int32.");
  keys.add("DedicatedQDQPair", o.dedicated_qdq_pair,
           "Each consumer of a tensor gets a Q/DQ pair of its own.");
  keys.add("QDQOpTypePerChannelSupportToAxis", o.qdq_op_type_per_channel_support_to_axis,
           "Operator type and the axis of its weight's channels.", from_to(-64, 63));
  keys.add("UseQDQContribOps", o.use_qdq_contrib_ops,
           "QuantizeLinear and DequantizeLinear of the domain com.microsoft are used.");
  keys.add("QDQKeepRemovableActivations", o.qdq_keep_removable_activations,
           "Relu and Clip stay although the quantizer could do their work.");
  keys.add("QDQDisableWeightAdjustForInt32Bias", o.qdq_disable_weight_adjust_for_int32_bias,
           "Weight scales are not raised where a bias would not fit int32.");
  keys.add("BlockSize", o.block_size, "Weights get a scale per block of so many values; 0: none.",
           from_to(0, 1 << 20));
  keys.add("EnableSubgraph", o.enable_subgraph,
           "Bodies of If, Loop and Scan are quantized too by dynamic with preset onnxruntime; "
           "other presets do so in any case, but for static in format QOperator.");
  keys.add("MatMulConstBOnly", o.mat_mul_const_b_only,
           "MatMul is quantized only where its second input is constant; null: so in dynamic. No "
           "effect in format QDQ.");
  keys.add("extra.Sigmoid.nnapi", o.sigmoid_nnapi,
           "Sigmoid gets the output range of NNAPI; no effect in format QDQ.");
  keys.add("DefaultTensorType", o.default_tensor_type,
           "ONNX element type number of tensors whose type is not known.", from_to(1, 100));
  keys.add("SmoothQuant", o.smooth_quant,
           "Difficulty moves from activations to weights before quantization.");
  keys.add("SmoothQuantAlpha", o.smooth_quant_alpha, "How much of it moves.", from_to(0, 1));
  keys.add("SmoothQuantFolding", o.smooth_quant_folding,
           "The scales of SmoothQuant go into the layers before.");
  keys.add_moved("CalibTensorRangeSymmetric", "calibration.symmetric");
  keys.add_moved("CalibMovingAverage", "calibration.moving_average");
  keys.add_moved("CalibMovingAverageConstant", "calibration.averaging_constant");
  keys.add_moved("CalibPercentile", "calibration.percentile");
  keys.add_moved("CalibStridedMinMax", "calibration.stride");
}

void describe(KeyList& keys, QuantizationConfig& c) {
  keys.add("quant_format", c.quant_format,
           "QDQ: float operators between QuantizeLinear and DequantizeLinear; QOperator: integer "
           "operators.");
  keys.add("activation_type", c.activation_type, "Type of quantized activations.");
  keys.add("weight_type", c.weight_type, "Type of quantized weights.");
  keys.add("per_channel", c.per_channel, "Weights have a scale per output channel.");
  keys.add("reduce_range", c.reduce_range,
           "Weights use 7 of 8 bits, for CPUs whose 8-bit products saturate.");
  keys.add("refuse_quantized", c.refuse_quantized,
           "A model that is quantized already, be it in parts, is an error instead of completed.");
  keys.add("op_types_to_quantize", c.op_types_to_quantize,
           "Only operators of these types are quantized; empty: every type there is a rule for.");
  keys.add("op_types_to_exclude", c.op_types_to_exclude, "Operators of these types stay in float.");
  keys.add("nodes_to_quantize", c.nodes_to_quantize,
           "Only these nodes are quantized: names or /regular expressions/; empty: all.",
           node_patterns());
  keys.add("nodes_to_exclude", c.nodes_to_exclude,
           "These nodes stay in float: names or /regular expressions/.", node_patterns());
  keys.add("extra_options", c.extra_options, "Further options under ONNX Runtime's names.");
  keys.add("algorithms", c.algorithms,
           "Post-training algorithms: names, or objects with a name and parameters; null: what the "
           "preset takes by itself (bias_correction and cross_layer_equalization for weights with "
           "one scale per tensor).");
  keys.add("bits", c.bits, "Bits of a weight, for weights.", one_of({2, 4, 8}));
  keys.add("block_size", c.block_size, "Values that share a scale, for weights.",
           one_of({16, 32, 64, 128, 256}));
  keys.add("is_symmetric", c.is_symmetric, "Blocks have no zero point, for weights.");
  keys.add("accuracy_level", c.accuracy_level,
           "Accuracy level of MatMulNBits, for weights; null: the runtime's choice.",
           from_to(0, 4));
  keys.add("quant_axes", c.quant_axes,
           "Operator type and the axis along which blocks lie, for weights.", from_to(-64, 63));
}

void describe(KeyList& keys, Float16Auto& c) {
  keys.add("rtol", c.rtol, "Relative error allowed.", above(0));
  keys.add("atol", c.atol, "Absolute error allowed.", above(0));
}

void describe(KeyList& keys, Float16Config& c) {
  keys.add("type", c.type, "float16 or bfloat16.", names("type", {"float16", "bfloat16"}));
  keys.add("keep_io_types", c.keep_io_types,
           "Inputs and outputs of the model keep their types: true, false, or a list of names.");
  keys.add("op_block_list", c.op_block_list,
           "Operator types that stay in float32; null: the built-in list; []: none.");
  keys.add("node_block_list", c.node_block_list,
           "Nodes that stay in float32: names or /regular expressions/.", node_patterns());
  keys.add("min_positive_val", c.min_positive_val, "Smaller positive values become this one.",
           above(0));
  keys.add("max_finite_val", c.max_finite_val, "Larger values become this one.", above(0));
  keys.add("auto", c.auto_search,
           "Finds by comparison which nodes must stay in float32; null: off.");
}

void describe(KeyList& keys, VerifyConfig& c) {
  keys.add("data", c.data, "Folder with the samples on which both models are compared.");
  keys.add("labels", c.labels, "File with the class of each sample.");
  keys.add("min_cosine", c.min_cosine, "Gate: least mean cosine of every output.", from_to(-1, 1));
  keys.add("min_sqnr_db", c.min_sqnr_db,
           "Gate: least signal to quantization noise of every output, in dB.");
  keys.add("max_top1_drop", c.max_top1_drop,
           "Gate: greatest loss of top-1 accuracy, as a share of the samples.", from_to(0, 1));
  keys.add("max_latency_ratio", c.max_latency_ratio,
           "Gate: greatest latency relative to the float model.", above(0));
  keys.add("max_size_ratio", c.max_size_ratio,
           "Gate: greatest file size relative to the float model.", above(0));
}

void describe(KeyList& keys, ReportConfig& c) {
  keys.add("manifest", c.manifest, "Whether OUTPUT.manifest.json is written beside the output.");
  keys.add("html", c.html, "HTML file for the report.");
  keys.add("json", c.json, "JSON file for the report.");
}

void describe(KeyList& keys, Config& c) {
  keys.add("model", c.model, "Files of the model.");
  keys.add("preset", c.preset, "Where the result will run; sets the defaults of other keys.");
  keys.add("preprocess", c.preprocess, "What is done to the model before it is quantized.");
  keys.add("calibration", c.calibration, "How ranges of activations are found.");
  keys.add("quantization", c.quantization,
           "What is quantized and how; names inside are ONNX Runtime's own.");
  keys.add("float16", c.float16, "Conversion to float16 or bfloat16.");
  keys.add("verify", c.verify, "Comparison of the result with the original, and gates.");
  keys.add("report", c.report, "Files that tell about the run.");
}

}  // namespace qtool
