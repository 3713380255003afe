#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "model/model.h"
#include "runtime/session.h"

namespace qtool::testing {

/// Values for every input that a run needs, the same for the same seed; free axes get size 2.
inline std::vector<NamedTensor> random_inputs(const Model& model, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<NamedTensor> inputs;
  for (const TensorInfo& info : required_inputs(model.graph())) {
    Tensor tensor{.type = info.type, .shape = info.shape, .bytes = {}};
    for (auto& size : tensor.shape) size = size < 0 ? 2 : size;
    const std::size_t count = tensor.element_count();
    tensor.bytes.resize(packed_bytes(info.type, count));
    for (std::size_t i = 0; i < count; ++i) {
      if (info.type == ElementType::Float) {
        const float value = std::normal_distribution<float>()(random);
        std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
      } else if (info.type == ElementType::Int64) {
        const auto value = static_cast<std::int64_t>(random() % 2);
        std::memcpy(tensor.bytes.data() + i * sizeof value, &value, sizeof value);
      } else if (info.type == ElementType::Bool) {
        tensor.bytes[i] = static_cast<std::byte>(random() % 2);
      }
    }
    inputs.push_back({info.name, std::move(tensor)});
  }
  return inputs;
}

inline std::vector<NamedTensor> run_model(const Model& model, std::span<const NamedTensor> inputs) {
  return Session(model, {.optimization = SessionConfig::Optimization::None, .taps = {}})
      .run(inputs);
}

/// The largest difference of two runs' outputs, as a part of the output's largest value; infinite
/// where names, types or shapes differ, or one value is NaN or infinite and the other is not the
/// same.
inline double difference(std::span<const NamedTensor> expected,
                         std::span<const NamedTensor> found) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (expected.size() != found.size()) return kInfinite;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Tensor &a = expected[i].tensor, &b = found[i].tensor;
    if (expected[i].name != found[i].name || a.type != b.type || a.shape != b.shape)
      return kInfinite;
    if (a.bytes == b.bytes) continue;
    const auto x = to_float64(a), y = to_float64(b);
    double largest = std::numeric_limits<double>::min(), error = 0;
    for (std::size_t j = 0; j < x.size(); ++j) {
      if (x[j] == y[j]) continue;
      if (!std::isfinite(x[j]) || !std::isfinite(y[j])) return kInfinite;
      error = std::max(error, std::fabs(x[j] - y[j]));
    }
    for (const double value : x)
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    worst = std::max(worst, error / largest);
  }
  return worst;
}

/// The same for two models on the same random inputs.
inline double difference(const Model& before, const Model& after, unsigned seed = 1) {
  const auto inputs = random_inputs(before, seed);
  return difference(run_model(before, inputs), run_model(after, inputs));
}

}  // namespace qtool::testing
