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
  double float_call_us = 4, integer_call_us = 5;
};

constexpr double kAny = std::numeric_limits<double>::infinity();

/// Sorted by channels within a kind.
constexpr Speed kSpeeds[] = {
    {LayerKind::Conv, 4, 37, 65},
    {LayerKind::Conv, 32, 57, 173},
    {LayerKind::Conv, 96, 40, 150},
    {LayerKind::Conv, kAny, 52, 194},
    {LayerKind::Pointwise, 32, 36, 100, 4, 9},
    {LayerKind::Pointwise, 96, 53, 137, 4, 8},
    {LayerKind::Pointwise, kAny, 50, 175, 4, 8},
    {LayerKind::Depthwise, kAny, 29, 17, 4, 14},
    {LayerKind::Conv1D, kAny, 12, 47, 5, 3},
    {LayerKind::ConvTranspose, kAny, 25, 25},
    {LayerKind::Product, kAny, 27, 75, 3, 5.5},
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
    {"Add", 0.19, 0.124},
    {"AveragePool", 1, 0.5},
    {"Clip", 0.25, 0.1},
    {"Concat", 0.43, 0.25},
    {"Div", 0.23, 0.2},
    {"Erf", 0.5, 0.5},
    {"Exp", 0.5, 0.5},
    {"Flatten", 0, 0},
    {"Gather", 0.1, 0.05},
    {"Gelu", 0.6, 0.6},
    {"GlobalAveragePool", 0.1, 0.05},
    {"HardSigmoid", 0.3, 0.3},
    {"HardSwish", 0.5, 0.5},
    {"InstanceNormalization", 0.6, 0.6},
    {"LayerNormalization", 0.4, 0.4},
    {"LeakyRelu", 0.25, 0.12},
    {"MaxPool", 1.1, 0.46},
    {"Mul", 0.19, 0.276},
    {"Relu", 0.15, 0.1},
    {"Reshape", 0, 0},
    {"Resize", 0.4, 1},
    {"Sigmoid", 0.32, 0.12},
    {"Softmax", 0.5, 0.6},
    {"Squeeze", 0, 0},
    {"Tanh", 0.5, 0.5},
    {"Transpose", 0.48, 0.12},
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
  constexpr double kUsual = 0.25;
  const auto row = std::ranges::lower_bound(kPaces, op_type, {}, &Pace::op_type);
  if (row == std::end(kPaces) || row->op_type != op_type) return kUsual;
  return is_integer ? row->of_integers : row->of_floats;
}

}  // namespace qtool
