#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qtool {

enum class Preset { Cpu, CpuAvx2, Arm64, TensorRt, OpenVino, Qnn, MiGraphX, OnnxRuntime };
enum class ExternalData { Auto, Always, Never };
enum class OptimizationLevel { None, Basic, Extended };
enum class CalibrationMethod { MinMax, Percentile, Entropy, Mse, Auto, Distribution };
enum class QuantFormat { Qdq, QOperator };
enum class QuantType { Int8, UInt8, Int16, UInt16, Int4, UInt4, Float8E4M3FN };

/// Section `model`.
struct ModelConfig {
  std::optional<std::filesystem::path> input;
  std::optional<std::filesystem::path> output;
  ExternalData external_data = ExternalData::Auto;
  std::optional<std::string>
      external_data_file;                       ///< name beside the output; default `<output>.data`
  std::int64_t external_data_threshold = 1024;  ///< tensors of at least so many bytes go out
};

/// Section `preprocess`.
struct PreprocessConfig {
  bool enabled = true;
  bool simplify = true;
  bool fold_constants = true;
  bool symbolic_shape = true;
  OptimizationLevel optimization = OptimizationLevel::None;
  std::vector<std::string> fusions;
  std::optional<std::int64_t> opset;
  std::map<std::string, std::int64_t> dims;                          ///< symbolic dimension -> size
  std::map<std::string, std::vector<std::int64_t>> override_shapes;  ///< graph input -> shape
  std::vector<std::string> inputs_to_make_channel_last;
  std::vector<std::string> outputs_to_make_channel_last;
  bool auto_merge = false;
  std::int64_t int_max = 2147483647;
  bool guess_output_rank = false;
};

/// Section `calibration`.
struct CalibrationConfig {
  std::optional<std::filesystem::path> data;
  std::optional<std::int64_t> max_samples;
  std::optional<std::int64_t> batch;
  CalibrationMethod method = CalibrationMethod::MinMax;
  double percentile = 99.999;
  std::int64_t num_bins = 2048;
  std::int64_t num_quantized_bins = 128;
  bool symmetric = false;
  bool moving_average = false;
  double averaging_constant = 0.01;
  std::optional<std::int64_t> stride;
  bool per_channel = false;
  std::optional<std::filesystem::path> table;
  std::optional<std::filesystem::path> cache;
  bool allow_nonfinite = false;       ///< NaN and Inf in samples are no error
  std::optional<double> max_clipped;  ///< these two are gates of `calibrate --coverage`
  std::optional<double> min_range_used;
};

/// One number, or one per channel; empty: not given.
struct ChannelValues {
  std::vector<double> values;
};

/// How one consumer-side copy of a tensor is converted to another type (`convert` of an override).
struct ConvertOverride {
  std::optional<QuantType> quant_type;
  ChannelValues scale, zero_point, rmin, rmax;
  std::optional<bool> symmetric;
  std::optional<std::vector<std::string>> recv_nodes;  ///< unset: every consumer
};

/// What `TensorQuantOverrides` says of a tensor, or of one channel of it.
struct TensorOverride {
  std::optional<QuantType> quant_type;
  ChannelValues scale, zero_point, rmin, rmax;
  std::optional<bool> symmetric;
  std::optional<bool> reduce_range;
  std::optional<std::int64_t> axis;
  std::optional<ConvertOverride> convert;
};

/// `quantization.extra_options`, under ONNX Runtime's names. An unset optional was not given.
struct ExtraOptions {
  std::optional<bool> activation_symmetric;  ///< ActivationSymmetric
  std::optional<bool> weight_symmetric;      ///< WeightSymmetric; default by type: signed ones are
  bool activation_restricted_asymmetric = false;
  std::optional<double> minimum_real_range;    ///< MinimumRealRange
  bool force_quantize_no_input_check = false;  ///< ForceQuantizeNoInputCheck
  std::vector<std::string> op_types_to_exclude_output_quantization;
  bool add_qdq_pair_to_weight = false;
  bool quantize_bias = true;
  bool dedicated_qdq_pair = false;
  std::map<std::string, std::int64_t> qdq_op_type_per_channel_support_to_axis;
  bool use_qdq_contrib_ops = false;
  bool qdq_keep_removable_activations = false;
  bool qdq_disable_weight_adjust_for_int32_bias = false;
  std::int64_t block_size = 0;
  std::map<std::string, std::vector<TensorOverride>> tensor_quant_overrides;
  bool enable_subgraph = false;
  std::optional<bool> mat_mul_const_b_only;  ///< MatMulConstBOnly; default: `dynamic` does
  bool sigmoid_nnapi = false;                ///< extra.Sigmoid.nnapi
  std::optional<std::int64_t>
      default_tensor_type;  ///< DefaultTensorType: an ONNX element type number
  bool smooth_quant = false;
  double smooth_quant_alpha = 0.5;
  bool smooth_quant_folding = true;
};

/// A post-training algorithm and its parameters.
struct Algorithm {
  std::string name;
  std::map<std::string, double> parameters;
};

/// Section `quantization`.
struct QuantizationConfig {
  QuantFormat quant_format = QuantFormat::Qdq;
  QuantType activation_type = QuantType::UInt8;
  QuantType weight_type = QuantType::Int8;
  bool per_channel = true;
  bool reduce_range = false;
  bool refuse_quantized = false;  ///< a model that carries Q/DQ or integer operators is an error
  std::vector<std::string> op_types_to_quantize;  ///< empty: every operator of the table
  std::vector<std::string> op_types_to_exclude;
  std::vector<std::string> nodes_to_quantize;  ///< names or /regex/; empty: every node
  std::vector<std::string> nodes_to_exclude;
  ExtraOptions extra_options;
  std::optional<std::vector<Algorithm>> algorithms;  ///< unset: what the preset takes by itself
  std::int64_t bits = 4;
  std::int64_t block_size = 32;
  bool is_symmetric = true;
  std::optional<std::int64_t> accuracy_level;
  std::map<std::string, std::int64_t> quant_axes;
};

/// `float16.auto`: find the nodes to keep by comparing outputs.
struct Float16Auto {
  double rtol = 1e-2;
  double atol = 1e-3;
};

/// `float16.keep_io_types`: which inputs and outputs of the model keep their types.
struct KeptIoTypes {
  bool all = true;
  std::vector<std::string> names;  ///< where not all do
};

/// Section `float16`.
struct Float16Config {
  std::string type = "float16";
  KeptIoTypes keep_io_types;
  std::optional<std::vector<std::string>> op_block_list;
  std::vector<std::string> node_block_list;
  double min_positive_val = 5.96e-8;
  double max_finite_val = 65504;
  std::optional<Float16Auto> auto_search;  ///< auto
};

/// Section `verify`: a gate that is not set is not checked.
struct VerifyConfig {
  std::optional<std::filesystem::path> data;
  std::optional<std::filesystem::path> labels;
  std::optional<double> min_cosine;
  std::optional<double> min_sqnr_db;
  std::optional<double> max_top1_drop;
  std::optional<double> max_latency_ratio;
  std::optional<double> max_size_ratio;

  bool has_gates() const {
    return min_cosine || min_sqnr_db || max_top1_drop || max_latency_ratio || max_size_ratio;
  }
};

/// Section `report`.
struct ReportConfig {
  bool manifest = true;
  std::optional<std::filesystem::path> html;
  std::optional<std::filesystem::path> json;
};

/// The whole effective config of one run, every default filled in.
struct Config {
  ModelConfig model;
  Preset preset = Preset::Cpu;
  PreprocessConfig preprocess;
  CalibrationConfig calibration;
  QuantizationConfig quantization;
  Float16Config float16;
  VerifyConfig verify;
  ReportConfig report;
  int threads = 0;         ///< `--threads`; 0: the cores this process may use
  bool load_check = true;  ///< off by `--no-load-check`
  bool dry_run = false;    ///< `--dry-run`
};

}  // namespace qtool
