#pragma once

#include <array>
#include <string_view>

#include "config/config.h"

namespace qtool {

template <typename E>
struct EnumEntry {
  E value;
  std::string_view name;
};

/// The values of an enumeration under the names that configs and reports use, and the word for one
/// of them.
template <typename E>
struct EnumNames;

template <>
struct EnumNames<Preset> {
  static constexpr std::string_view kNoun = "preset";
  static constexpr std::array kEntries = {
      EnumEntry{Preset::Cpu, "cpu"},           EnumEntry{Preset::CpuAvx2, "cpu-avx2"},
      EnumEntry{Preset::Arm64, "arm64"},       EnumEntry{Preset::TensorRt, "tensorrt"},
      EnumEntry{Preset::OpenVino, "openvino"}, EnumEntry{Preset::Qnn, "qnn"},
      EnumEntry{Preset::MiGraphX, "migraphx"}, EnumEntry{Preset::OnnxRuntime, "onnxruntime"}};
};

template <>
struct EnumNames<ExternalData> {
  static constexpr std::string_view kNoun = "choice";
  static constexpr std::array kEntries = {EnumEntry{ExternalData::Auto, "auto"},
                                          EnumEntry{ExternalData::Always, "always"},
                                          EnumEntry{ExternalData::Never, "never"}};
};

template <>
struct EnumNames<OptimizationLevel> {
  static constexpr std::string_view kNoun = "level";
  static constexpr std::array kEntries = {EnumEntry{OptimizationLevel::None, "none"},
                                          EnumEntry{OptimizationLevel::Basic, "basic"},
                                          EnumEntry{OptimizationLevel::Extended, "extended"}};
};

template <>
struct EnumNames<CalibrationMethod> {
  static constexpr std::string_view kNoun = "method";
  static constexpr std::array kEntries = {
      EnumEntry{CalibrationMethod::MinMax, "minmax"},
      EnumEntry{CalibrationMethod::Percentile, "percentile"},
      EnumEntry{CalibrationMethod::Entropy, "entropy"},
      EnumEntry{CalibrationMethod::Mse, "mse"},
      EnumEntry{CalibrationMethod::Auto, "auto"},
      EnumEntry{CalibrationMethod::Distribution, "distribution"}};
};

template <>
struct EnumNames<QuantFormat> {
  static constexpr std::string_view kNoun = "format";
  static constexpr std::array kEntries = {EnumEntry{QuantFormat::Qdq, "QDQ"},
                                          EnumEntry{QuantFormat::QOperator, "QOperator"}};
};

template <>
struct EnumNames<QuantType> {
  static constexpr std::string_view kNoun = "type";
  static constexpr std::array kEntries = {EnumEntry{QuantType::Int8, "int8"},
                                          EnumEntry{QuantType::UInt8, "uint8"},
                                          EnumEntry{QuantType::Int16, "int16"},
                                          EnumEntry{QuantType::UInt16, "uint16"},
                                          EnumEntry{QuantType::Int4, "int4"},
                                          EnumEntry{QuantType::UInt4, "uint4"},
                                          EnumEntry{QuantType::Float8E4M3FN, "float8e4m3fn"}};
};

/// The name of `value` in configs and reports.
template <typename E>
constexpr std::string_view enum_name(E value) {
  for (const EnumEntry<E>& entry : EnumNames<E>::kEntries) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}

}  // namespace qtool
