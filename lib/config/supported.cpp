#include "config/supported.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/enum_names.h"

namespace qtool {
namespace {

void require(bool is_available, std::string_view key, std::string_view what,
             std::string hint = {}) {
  if (is_available) return;
  throw Error(ErrorKind::Usage, fmt::format("{}: {} is not available yet", key, what),
              std::move(hint));
}

template <typename E>
std::string quoted(E value) {
  return fmt::format("'{}'", enum_name(value));
}

void check_model(const Config& config) {
  const bool available = config.preset == Preset::Cpu || config.preset == Preset::OnnxRuntime;
  require(available, "preset", quoted(config.preset), "available: cpu, onnxruntime");
}

void check_preprocess(const PreprocessConfig& c) {
  if (!c.enabled) return;
  require(c.optimization == OptimizationLevel::None, "preprocess.optimization",
          quoted(c.optimization), "available: none");
  require(c.fusions.empty(), "preprocess.fusions", "fusing operators");
  require(c.inputs_to_make_channel_last.empty(), "preprocess.inputs_to_make_channel_last",
          "changing the layout of inputs");
  require(c.outputs_to_make_channel_last.empty(), "preprocess.outputs_to_make_channel_last",
          "changing the layout of outputs");
  require(!c.auto_merge, "preprocess.auto_merge", "merging dimensions");
  require(!c.guess_output_rank, "preprocess.guess_output_rank", "guessing ranks");
}

void refuse(std::string_view key, std::string_view what) {
  throw Error(ErrorKind::Usage, fmt::format("{}: {}", key, what));
}

void check_per_channel(const CalibrationConfig& c, bool quantizes) {
  constexpr std::string_view kKey = "calibration.per_channel";
  if (quantizes) refuse(kKey, "an activation has one range in a model, expected it for calibrate");
  if (c.method != CalibrationMethod::MinMax || c.moving_average) {
    refuse(kKey, fmt::format("found method {}{}, expected minmax without an average",
                             quoted(c.method), c.moving_average ? " with moving_average" : ""));
  }
}

/// Joined samples have extremes together.
void check_batch(const CalibrationConfig& c, bool quantizes) {
  constexpr std::string_view kKey = "calibration.batch";
  if (!quantizes) refuse(kKey, "a table keeps what single samples have, expected it for static");
  if (c.moving_average || c.stride) {
    refuse(kKey, fmt::format("calibration.{} needs the extremes of single samples",
                             c.moving_average ? "moving_average" : "stride"));
  }
}

void check_calibration(const CalibrationConfig& c, bool quantizes) {
  require(c.method != CalibrationMethod::Distribution || !quantizes, "calibration.method",
          quoted(c.method),
          "it is for float8 alone; available: minmax, percentile, entropy, mse, auto");
  if (c.batch.value_or(1) > 1) check_batch(c, quantizes);
  if (c.stride && c.method != CalibrationMethod::MinMax)
    refuse("calibration.stride", fmt::format("found method {}, expected minmax", quoted(c.method)));
  if (c.per_channel) check_per_channel(c, quantizes);
}

void check_extra_options(const ExtraOptions& o) {
  const auto key = [](std::string_view name) {
    return fmt::format("quantization.extra_options.{}", name);
  };
  require(!o.activation_restricted_asymmetric, key("ActivationRestrictedAsymmetric"),
          "a restricted zero point");
  require(!o.add_qdq_pair_to_weight, key("AddQDQPairToWeight"), "keeping weights in float");
  require(!o.dedicated_qdq_pair, key("DedicatedQDQPair"), "a Q/DQ pair per consumer");
  require(!o.use_qdq_contrib_ops, key("UseQDQContribOps"), "Q/DQ of the domain com.microsoft");
  require(o.block_size == 0, key("BlockSize"), "a scale per block");
  require(!o.smooth_quant, key("SmoothQuant"), "SmoothQuant");
  if (!o.tensor_quant_overrides.empty()) {
    const std::string& tensor = o.tensor_quant_overrides.begin()->first;
    require(false, key("TensorQuantOverrides"),
            fmt::format("overriding the quantization of a tensor ('{}')", tensor));
  }
}

void check_quantization(const QuantizationConfig& c) {
  const auto is_8_bit = [](QuantType type) {
    return type == QuantType::Int8 || type == QuantType::UInt8;
  };
  require(c.quant_format == QuantFormat::Qdq, "quantization.quant_format", quoted(c.quant_format),
          "available: QDQ");
  require(is_8_bit(c.activation_type), "quantization.activation_type", quoted(c.activation_type),
          "available: int8, uint8");
  require(is_8_bit(c.weight_type), "quantization.weight_type", quoted(c.weight_type),
          "available: int8, uint8");
  for (const Algorithm& algorithm : c.algorithms.value_or(std::vector<Algorithm>{})) {
    require(algorithm.name == "bias_correction", "quantization.algorithms",
            fmt::format("'{}'", algorithm.name), "available: bias_correction");
  }
  check_extra_options(c.extra_options);
}

}  // namespace

void check_supported(const Config& config, std::string_view command) {
  check_model(config);
  const bool calibrates = command == "static" || command == "calibrate";
  if (calibrates || command == "preprocess") check_preprocess(config.preprocess);
  if (calibrates) check_calibration(config.calibration, command == "static");
  if (command == "static") check_quantization(config.quantization);
  require(!config.verify.max_latency_ratio, "verify.max_latency_ratio", "a gate on latency");
}

}  // namespace qtool
