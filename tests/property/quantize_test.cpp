#include <cmath>
#include <random>
#include <set>

#include "catch.h"
#include "model/save.h"
#include "preprocess/preprocess.h"
#include "quantize/constants.h"
#include "quantize/lower_qdq.h"
#include "quantize/plan_builder.h"
#include "quantize/planner.h"
#include "random_graph.h"
#include "runtime/session.h"
#include "tensor_builder.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr std::uint32_t kSeeds = 60;

TensorRanges some_ranges(const std::vector<std::string>& names, std::uint32_t seed) {
  std::mt19937 random(seed);
  TensorRanges ranges;
  for (const std::string& name : names) {
    const auto low = -static_cast<float>(random() % 5);
    ranges[name] = {low, static_cast<float>(random() % 7)};
  }
  return ranges;
}

std::size_t count_of(const Model& model, const std::string& op_type) {
  std::size_t count = 0;
  for (const auto& node : model.graph().node()) count += node.op_type() == op_type ? 1 : 0;
  return count;
}

QuantizationConfig config_for(std::uint32_t seed) {
  QuantizationConfig config;
  config.per_channel = seed % 2 == 0;
  config.reduce_range = seed % 3 == 0;
  config.activation_type = seed % 5 == 0 ? QuantType::Int8 : QuantType::UInt8;
  return config;
}

const Placement& placement_of(std::uint32_t seed) {
  return placement_for(seed % 4 < 2 ? Preset::Cpu : Preset::OnnxRuntime);
}

/// A plan for a normalized model, over ranges that the seed chooses.
QuantPlan plan_for(const Model& model, std::uint32_t seed) {
  const auto config = config_for(seed);
  const auto ranges = some_ranges(measurements(model, config, placement_of(seed)).tensors, seed);
  return build_plan(model, ranges, {}, config, placement_of(seed));
}

Model normalized_graph(std::uint32_t seed) {
  Model model = random_graph(seed);
  normalize(model);
  return model;
}

Model quantized_graph(std::uint32_t seed) {
  Model model = normalized_graph(seed);
  const QuantPlan plan = plan_for(model, seed);
  return lower_to_qdq(std::move(model), plan);
}

}  // namespace

TEST_CASE("a plan names each computed tensor at most once and each use of a constant exactly once",
          "[property]") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Model model = normalized_graph(seed);
    std::set<std::string> activations;
    std::set<std::pair<int, int>> uses;
    const QuantPlan plan = plan_for(model, seed);
    for (const TensorPlan& tensor : plan.tensors) {
      if (tensor.role == TensorPlan::Role::Activation)
        CHECK(activations.insert(tensor.name).second);
      for (const Use& use : tensor.uses) CHECK(uses.insert({use.node, use.slot}).second);
      for (const float scale : tensor.params.scales) CHECK((std::isnormal(scale) && scale > 0));
    }
  }
}

TEST_CASE("every quantized graph passes the checker, loads and runs", "[property]") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Model quantized = quantized_graph(seed);
    REQUIRE_NOTHROW(check_model(quantized, "quantized"));
    const Session session(quantized, {});
    const auto outputs = session.run(
        std::vector<NamedTensor>{{"x", float_tensor({1, 3, 4, 4}, std::vector<float>(48, 0.5F))}});
    CHECK(outputs.size() == 1);
  }
}

TEST_CASE("every graph of integer operators passes the checker, loads and runs", "[property]") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Model model = normalized_graph(seed);
    auto config = config_for(seed);
    config.quant_format = QuantFormat::QOperator;
    const Planner planner(config, seed % 4 < 2 ? Preset::Cpu : Preset::OnnxRuntime);
    const auto ranges = some_ranges(planner.measurements(model).tensors, seed);
    const QuantPlan plan = planner.plan(model, ranges, {});
    const Model quantized = planner.lower(std::move(model), plan);
    REQUIRE_NOTHROW(check_model(quantized, "quantized"));
    const Session session(quantized, {});
    const auto outputs = session.run(
        std::vector<NamedTensor>{{"x", float_tensor({1, 3, 4, 4}, std::vector<float>(48, 0.5F))}});
    CHECK(outputs.size() == 1);
    for (const NodeForm& form : plan.forms) {
      for (const int index : form.inputs) CHECK(index < static_cast<int>(plan.tensors.size()));
    }
  }
}

TEST_CASE("quantizing a quantized graph adds no pair and changes no scale", "[property]") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Model once = quantized_graph(seed);
    normalize(once);
    const std::size_t pairs = count_of(once, "QuantizeLinear");
    const QuantPlan second = plan_for(once, seed);
    CHECK(second.tensors.empty());
    CHECK(count_of(lower_to_qdq(std::move(once), second), "QuantizeLinear") == pairs);
  }
}

TEST_CASE("a constant comes back within half a step", "[property]") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<float> values(24);
    for (float& value : values)
      value = static_cast<float>(static_cast<int>(random() % 2001) - 1000) /
              static_cast<float>(random() % 300 + 1);
    const Tensor tensor = float_tensor({2, 3, 4}, values);
    const auto axis = seed % 4 == 3 ? std::nullopt : std::optional<std::int64_t>(seed % 4);
    const QuantScheme scheme{.type = seed % 2 == 0 ? ElementType::Int8 : ElementType::UInt8,
                             .is_symmetric = seed % 2 == 0,
                             .is_reduced = false,
                             .minimum_real_range = {}};
    const ConstantParams params = *constant_params(tensor, {.axis = axis}, scheme);
    const auto stored = quantize_constant(tensor, params.params);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t stride[] = {12, 4, 1}, size[] = {2, 3, 4};
      const std::size_t channel = axis ? i / stride[*axis] % size[*axis] : 0;
      const int q = seed % 2 == 0 ? static_cast<std::int8_t>(stored[i])
                                  : static_cast<std::uint8_t>(stored[i]);
      const float scale = params.params.scales[channel];
      const float back = scale * static_cast<float>(q - params.params.zero_points[channel]);
      // The zero point is rounded too, so the ends of an asymmetric range can be off by a whole
      // step.
      CHECK(std::abs(back - values[i]) <= scale * (seed % 2 == 0 ? 0.5001F : 1.0001F));
    }
  }
}
