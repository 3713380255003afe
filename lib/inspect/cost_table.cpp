#include "inspect/cost_table.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace qtool {
namespace {

/// Multiplications per nanosecond, and microseconds of a call.
struct Speed {
  LayerKind kind;
  double most_channels;
  double of_floats, of_integers;
  double float_call_us, integer_call_us;
};

constexpr double kAny = std::numeric_limits<double>::infinity();

/// Sorted by channels within a kind.
constexpr Speed kSpeeds[] = {
    {LayerKind::Conv, 4, 50, 120, 2.1, 3.2},
    {LayerKind::Conv, 32, 84, 260, 6.1, 2},
    {LayerKind::Conv, 96, 65, 150, 2.6, 3.3},
    {LayerKind::Conv, kAny, 110, 220, 2.6, 3.3},
    {LayerKind::Pointwise, 32, 66, 160, 2.3, 6.6},
    {LayerKind::Pointwise, 96, 78, 220, 2.5, 5.7},
    {LayerKind::Pointwise, kAny, 78, 210, 2.4, 5.9},
    {LayerKind::Depthwise, kAny, 41, 31, 2.5, 11},
    {LayerKind::UnevenDepthwise, kAny, 53, 6.9, 2.5, 9.9},
    {LayerKind::Conv1D, kAny, 11, 76, 3.9, 1.9},
    {LayerKind::ConvTranspose, kAny, 41, 38, 2.6, 3.2},
    {LayerKind::Product, kAny, 48, 200, 1.3, 3.1},
};

const Speed& speed_of(const LayerWork& work) {
  return *std::ranges::find_if(kSpeeds, [&](const Speed& row) {
    return row.kind == work.kind && work.channels <= row.most_channels;
  });
}

/// Nanoseconds per value; negative: there is no kernel of integers.
struct Pace {
  std::string_view op_type;
  double of_floats, of_integers;
};

/// Sorted by op_type.
constexpr Pace kPaces[] = {
    {"Add", 0.35, 0.072},
    {"AveragePool", 0.65, 0.33},
    {"Clip", 0.31, 0.065},
    {"Concat", 0.3, 0.16},
    {"Div", 0.35, 0.13},
    {"Erf", 0.31, 0.33},
    {"Exp", 0.33, 0.33},
    {"Flatten", 0, 0},
    {"Gather", 0.065, 0.032},
    {"Gelu", 0.39, 0.39},
    {"GlobalAveragePool", 0.065, 0.032},
    {"HardSigmoid", 0.19, 0.2},
    {"HardSwish", 0.19, 0.33},
    {"InstanceNormalization", 0.39, 0.39},
    {"LayerNormalization", 0.26, 0.26},
    {"LeakyRelu", 0.16, 0.078},
    {"MaxPool", 0.74, 0.3},
    {"Mul", 0.16, 0.23},
    {"Relu", 0.096, 0.065},
    {"Reshape", 0, 0},
    {"Resize", 0.31, 0.46},
    {"Sigmoid", 0.18, 0.091},
    {"Softmax", 0.33, 0.39},
    {"Squeeze", 0, 0},
    {"Tanh", 0.33, 0.33},
    {"Transpose", 0.3, 0.078},
    {"Unsqueeze", 0, 0},
};
static_assert(std::ranges::is_sorted(kPaces, {}, &Pace::op_type), "keep kPaces sorted by op_type");

}  // namespace

double float_layer_us(const LayerWork& work) {
  const Speed& speed = speed_of(work);
  return speed.float_call_us + work.macs / speed.of_floats / 1e3;
}

double integer_layer_us(const LayerWork& work) {
  const Speed& speed = speed_of(work);
  return speed.integer_call_us + work.macs / speed.of_integers / 1e3;
}

double per_value_ns(std::string_view op_type, bool is_integer) {
  constexpr double kUsual = 0.17;
  const auto row = std::ranges::lower_bound(kPaces, op_type, {}, &Pace::op_type);
  if (row == std::end(kPaces) || row->op_type != op_type) return kUsual;
  return is_integer ? row->of_integers : row->of_floats;
}

}  // namespace qtool
