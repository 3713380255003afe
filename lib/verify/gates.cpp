#include "verify/gates.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace qtool {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// Distances that say something of quality: class numbers and indices only where a model gives
/// nothing else.
std::vector<const TensorDistance*> judged_outputs(const Comparison& comparison) {
  std::vector<const TensorDistance*> all, continuous;
  for (const TensorDistance& output : comparison.outputs) {
    if (output.value_count == 0) continue;
    all.push_back(&output);
    if (!output.equal_share) continuous.push_back(&output);
  }
  return continuous.empty() ? all : continuous;
}

Gate at_least(std::string name, double limit, double TensorDistance::*figure,
              const Comparison& comparison) {
  Gate gate{std::move(name), limit, kNothing, false, {}};
  const auto outputs = judged_outputs(comparison);
  if (outputs.empty()) {
    gate.note = "no output could be compared";
    return gate;
  }
  gate.value = outputs.front()->*figure;
  for (const TensorDistance* output : outputs) gate.value = std::min(gate.value, output->*figure);
  gate.met = gate.value >= limit;
  return gate;
}

Gate top1_gate(double limit, const Top1& top1) {
  Gate gate{"max_top1_drop", limit, kNothing, false, {}};
  if (!top1.drop) {
    gate.note = "the first output names no class";
    return gate;
  }
  gate.value = *top1.drop;
  gate.met = gate.value <= limit;
  return gate;
}

}  // namespace

std::vector<Gate> judge_gates(const VerifyConfig& config, const Comparison& comparison,
                              double size_ratio) {
  std::vector<Gate> gates;
  if (config.min_cosine) {
    gates.push_back(
        at_least("min_cosine", *config.min_cosine, &TensorDistance::cosine_mean, comparison));
  }
  if (config.min_sqnr_db) {
    gates.push_back(
        at_least("min_sqnr_db", *config.min_sqnr_db, &TensorDistance::sqnr_db, comparison));
  }
  if (config.max_top1_drop) gates.push_back(top1_gate(*config.max_top1_drop, comparison.top1));
  if (config.max_latency_ratio) {
    gates.push_back({"max_latency_ratio", *config.max_latency_ratio, kNothing, false,
                     "latency was not measured"});
  }
  if (config.max_size_ratio) {
    gates.push_back({"max_size_ratio",
                     *config.max_size_ratio,
                     size_ratio,
                     size_ratio <= *config.max_size_ratio,
                     {}});
  }
  return gates;
}

}  // namespace qtool
