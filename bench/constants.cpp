// Milliseconds of processor time to find the scales of a 4096x4096 weight and to quantize it.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <span>
#include <vector>

#include "model/float_values.h"
#include "quantize/constants.h"

namespace {

using namespace qtool;

constexpr std::int64_t kSide = 4096;

Tensor weight(ElementType type) {
  std::mt19937 random(1);
  std::vector<float> values(static_cast<std::size_t>(kSide * kSide));
  for (float& value : values) value = static_cast<float>(random()) * 0x1p-33F - 0.25F;
  return {type, {kSide, kSide}, encode_floats(type, std::span<const float>(values))};
}

double now() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

void measure(const char* name, const Tensor& values, const ScaleSharing& sharing,
             ElementType type) {
  double scales = HUGE_VAL, data = HUGE_VAL;
  for (int round = 0; round < 5; ++round) {
    const double start = now();
    const auto found =
        constant_params(values, sharing, {.type = type, .is_symmetric = true, .value_type = values.type});
    const double middle = now();
    const auto stored = quantize_constant(values, found->params);
    data = std::fmin(data, now() - middle);
    scales = std::fmin(scales, middle - start);
  }
  std::printf("%-32s scales %6.1f ms, data %6.1f ms\n", name, scales, data);
}

}  // namespace

int main() {
  const Tensor floats = weight(ElementType::Float);
  measure("int8", floats, {}, ElementType::Int8);
  measure("int8, axis 0", floats, {.axis = 0}, ElementType::Int8);
  measure("int8, axis 1", floats, {.axis = 1}, ElementType::Int8);
  measure("int4", floats, {}, ElementType::Int4);
  measure("int4, axis 0, blocks of 32", floats, {.axis = 0, .block_size = 32}, ElementType::Int4);
  measure("int4, axis 1, blocks of 32", floats, {.axis = 1, .block_size = 32}, ElementType::Int4);
  measure("float8", floats, {}, ElementType::Float8E4M3FN);
  const Tensor halves = weight(ElementType::Float16);
  measure("float16 to int8", halves, {}, ElementType::Int8);
  measure("float16 to int4, blocks of 32", halves, {.axis = 0, .block_size = 32},
          ElementType::Int4);
  measure("float16 to float8", halves, {}, ElementType::Float8E4M3FN);
}
