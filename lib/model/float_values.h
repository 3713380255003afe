#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/element_type.h"

namespace qtool {

/// Whether `encode_floats` knows the type: float16, float32 and float64.
bool is_encodable(ElementType type);

/// `value` rounded half to even to a number of `type`, which is encodable; infinite where `type`
/// ends before.
double round_to(ElementType type, double value);

/// `values` as elements of `type`, each rounded half to even.
std::vector<std::byte> encode_floats(ElementType type, std::span<const double> values);
std::vector<std::byte> encode_floats(ElementType type, std::span<const float> values);

}  // namespace qtool
