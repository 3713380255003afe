#include "pipeline/prepare.h"

#include <algorithm>

#include "catch.h"
#include "error_text.h"
#include "quantize/lower_qdq.h"
#include "quantize/plan_builder.h"
#include "run_model.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

// No later opset has a Dropout whose mask is of the type that this one gives.
constexpr const char* kCannotBeRaised = R"(
    <ir_version: 5, opset_import: ["" : 9]>
    agraph (float[1,4] x) => (float[1,2] y, float[1,4] mask)
      <float[4,2] w = {1, -1, 2, 0.5, 3, 4, 5, 6}> {
        d, mask = Dropout (x)
        y = MatMul (d, w)
      })";

TEST_CASE("prepare: a model whose opset cannot be raised gets ONNX Runtime's Q and DQ",
          "[pipeline]") {
  const Model float_model = text_model(kCannotBeRaised);
  const Config config;
  Model model = float_model.clone();
  const PreprocessReport report = prepare_for_quantization(model, config);
  CHECK(model.opset() == 9);
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes.front().ends_with(
      ": QuantizeLinear and DequantizeLinear are those of ONNX Runtime (com.microsoft)"));

  const Placement& placement = placement_for(config.preset);
  TensorRanges ranges;
  for (const std::string& name : measurements(model, config.quantization, placement).tensors)
    ranges[name] = {-4, 4};
  const QuantPlan plan = build_plan(model, ranges, {}, config.quantization, placement);
  CHECK(plan.qdq_domain == "com.microsoft");
  const Model quantized = lower_to_qdq(std::move(model), plan);
  CHECK(std::ranges::any_of(quantized.graph().node(), [](const onnx::NodeProto& node) {
    return node.op_type() == "DequantizeLinear" && node.domain() == "com.microsoft";
  }));
  CHECK(difference(float_model, quantized) < 0.05);
}

TEST_CASE("prepare: float8 needs an opset that has it", "[pipeline]") {
  Config config;
  config.quantization.activation_type = QuantType::Float8E4M3FN;
  config.quantization.weight_type = QuantType::Float8E4M3FN;
  Model model = text_model(kCannotBeRaised);
  CHECK_FALSE(error_text([&] { prepare_for_quantization(model, config); }).empty());
}

}  // namespace
}  // namespace qtool
