#include "quantize/lower_qdq.h"

#include "catch.h"
#include "quantize/plan_builder.h"
#include "text_model.h"

namespace qtool {
namespace {

using Dims = std::vector<std::int64_t>;

Dims dims_of(const Model& model, const std::string& name) {
  for (const auto& tensor : model.graph().initializer()) {
    if (tensor.name() == name) return {tensor.dims().begin(), tensor.dims().end()};
  }
  throw std::runtime_error("no initializer " + name);
}

Model quantized(Preset preset) {
  Model model = testing::text_model(
      "g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}> "
      "{ y = Gemm (x, w, b) }");
  QuantizationConfig config;
  config.per_channel = false;
  const QuantPlan plan =
      build_plan(model, {{"x", {-1, 1}}, {"y", {-9, 9}}}, {}, config, placement_for(preset));
  return lower_to_qdq(std::move(model), plan);
}

// Q32: onnxruntime.quantization stores the one scale as [1] and its zero point as [].
TEST_CASE("lower to QDQ: a bias's one scale and zero point have one shape", "[quantize]") {
  const Model own = quantized(Preset::Cpu);
  CHECK(dims_of(own, "b_quantized_scale") == Dims{});
  CHECK(dims_of(own, "b_quantized_zero_point") == Dims{});
  const Model as_peer = quantized(Preset::OnnxRuntime);
  CHECK(dims_of(as_peer, "b_quantized_scale") == Dims{1});
  CHECK(dims_of(as_peer, "b_quantized_zero_point") == Dims{});
}

}  // namespace
}  // namespace qtool
