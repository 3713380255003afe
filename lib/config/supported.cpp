#include "config/supported.h"

#include <algorithm>
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
  if (c.batch.value_or(1) > 1) check_batch(c, quantizes);
  if (c.stride && c.method != CalibrationMethod::MinMax)
    refuse("calibration.stride", fmt::format("found method {}, expected minmax", quoted(c.method)));
  if (c.per_channel) check_per_channel(c, quantizes);
}

bool is_float8(QuantType type) { return type == QuantType::Float8E4M3FN; }

bool is_16_bit(QuantType type) { return type == QuantType::Int16 || type == QuantType::UInt16; }

/// What no runtime loads, or none quantizes right, told before the work of calibration.
void check_types(const Config& config) {
  const QuantizationConfig& c = config.quantization;
  constexpr std::string_view kActivation = "quantization.activation_type";
  constexpr std::string_view kWeight = "quantization.weight_type";
  if (is_float8(c.activation_type) != is_float8(c.weight_type)) {
    refuse(kWeight, fmt::format("found {} with activations {}, expected float8e4m3fn for both",
                                quoted(c.weight_type), quoted(c.activation_type)));
  }
  if (is_float8(c.weight_type) && config.calibration.method != CalibrationMethod::Distribution) {
    refuse(
        "calibration.method",
        fmt::format("found {}, expected 'distribution': float8 is scaled by the spread of values",
                    quoted(config.calibration.method)));
  }
  if (is_float8(c.weight_type) && c.reduce_range)
    refuse("quantization.reduce_range", "float8 has no reduced range");
  const bool has_pairs_alone = config.preset == Preset::TensorRt ||
                               config.preset == Preset::OpenVino || config.preset == Preset::Qnn;
  if (c.quant_format == QuantFormat::QOperator && has_pairs_alone) {
    refuse("quantization.quant_format",
           fmt::format("found {} with preset {}, expected {}", quoted(c.quant_format),
                       quoted(config.preset), quoted(QuantFormat::Qdq)));
  }
  if (c.quant_format == QuantFormat::QOperator &&
      (is_16_bit(c.activation_type) || is_16_bit(c.weight_type))) {
    refuse(is_16_bit(c.activation_type) ? kActivation : kWeight,
           "found 16 bits, expected 8: QOperator has no operators of 16 bits");
  }
  if (config.preset == Preset::OnnxRuntime && c.activation_type == QuantType::Int8 &&
      c.weight_type == QuantType::UInt8) {
    refuse(kWeight, "found 'uint8' with activations 'int8', expected 'int8'");
  }
}

/// Of integer operators that quantize at run time.
void check_dynamic(const Config& config) {
  const QuantizationConfig& c = config.quantization;
  const bool runs_on_cpu = config.preset == Preset::Cpu || config.preset == Preset::CpuAvx2 ||
                           config.preset == Preset::Arm64 || config.preset == Preset::OnnxRuntime;
  if (!runs_on_cpu) {
    refuse("preset", fmt::format("found {}, which has no operators that quantize at run time, "
                                 "expected cpu, cpu-avx2, arm64 or onnxruntime for dynamic",
                                 quoted(config.preset)));
  }
  const bool has_8_bits = c.weight_type == QuantType::Int8 || c.weight_type == QuantType::UInt8;
  if (!has_8_bits) {
    refuse("quantization.weight_type",
           fmt::format("found {}, expected int8 or uint8 for dynamic", quoted(c.weight_type)));
  }
}

/// Limits that the type has, and a search that must run its results.
void check_float16(const Float16Config& c) {
  constexpr double kLargestFloat16 = 65504;
  const bool is_float16 = c.type == "float16";
  if (is_float16 && c.max_finite_val > kLargestFloat16) {
    refuse("float16.max_finite_val",
           fmt::format("found {}, expected at most 65504, float16's largest number",
                       c.max_finite_val));
  }
  if (c.min_positive_val >= c.max_finite_val) {
    refuse("float16.min_positive_val",
           fmt::format("found {}, expected less than max_finite_val, {}", c.min_positive_val,
                       c.max_finite_val));
  }
  if (c.auto_search && !is_float16)
    refuse("float16.auto", "ONNX Runtime runs no bfloat16 on CPUs, expected type float16");
}

void check_quantization(const Config& config) {
  const QuantizationConfig& c = config.quantization;
  for (const Algorithm& algorithm : c.algorithms.value_or(std::vector<Algorithm>{})) {
    require(algorithm.name == "bias_correction" || algorithm.name == "cross_layer_equalization",
            "quantization.algorithms", fmt::format("'{}'", algorithm.name),
            "available: bias_correction, cross_layer_equalization");
  }
  require(!c.extra_options.smooth_quant, "quantization.extra_options.SmoothQuant", "SmoothQuant");
  check_types(config);
}

}  // namespace

void check_supported(const Config& config, std::string_view command) {
  const bool calibrates = command == "static" || command == "calibrate";
  if (calibrates) check_calibration(config.calibration, command == "static");
  if (command == "static") check_quantization(config);
  if (command == "dynamic") check_dynamic(config);
  if (command == "float16") check_float16(config.float16);
  require(!config.verify.max_latency_ratio, "verify.max_latency_ratio", "a gate on latency");
}

}  // namespace qtool
