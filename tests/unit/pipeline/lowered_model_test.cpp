#include "pipeline/lowered_model.h"

#include "catch.h"
#include "graph_text.h"
#include "integer_kernels.h"
#include "pipeline/prepare.h"
#include "run_model.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

Model lowered(const Model& before, Preset preset) {
  Config config;
  config.preset = preset;
  Model model = before.clone();
  prepare_for_quantization(model, config);
  const Planner planner(config.quantization, config.preset);
  TensorRanges ranges;
  for (const std::string& name : planner.measurements(model).tensors) ranges[name] = {-4, 4};
  const QuantPlan plan = planner.plan(model, ranges, {});
  return lowered_model(std::move(model), plan, planner, config);
}

TEST_CASE("lowered model: no Relu or Clip keeps a layer that gives floats from its integer kernel",
          "[pipeline]") {
  const Model before = text_model(R"(
    agraph (float[2,2] x) => (float[2,2] y)
      <float[2,2] w = {1, -1, 2, 0.5}, float[2,2] v = {-1, 0.25, 1, 2}, float low = {0},
       float high = {3}> {
        m = MatMul (x, w)
        r = Relu (m)
        s = Softmax (r)
        n = MatMul (s, v)
        c = Clip (n, low, high)
        y = Neg (c)
      })");
  const Model model = lowered(before, Preset::Cpu);
  CHECK(difference(before, model) < 0.05);
  const std::string ops = op_types(model.graph());
  CHECK(ops.find("MatMul Max Softmax") != std::string::npos);
  CHECK(ops.find("MatMul Max Min Neg") != std::string::npos);
  CHECK(integer_kernels_of(model) ==
        std::map<std::string, std::size_t>{{"MatMulIntegerToFloat", 2}});
  const std::string elsewhere = op_types(lowered(before, Preset::TensorRt).graph());
  CHECK(elsewhere.find("MatMul Relu Softmax") != std::string::npos);
}

}  // namespace
}  // namespace qtool
