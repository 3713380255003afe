#include "quantize/plan_builder.h"

#include <algorithm>

#include "catch.h"
#include "text_model.h"

namespace qtool {
namespace {

// C9: onnxruntime.quantization calibrates them all the same.
TEST_CASE("measurements: tensors that only excluded nodes read or make are not measured",
          "[quantize]") {
  const Model model = testing::text_model(
      "g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 2, 3, 4}, float[2,2] h, float[2,2] "
      "i> "
      "{ [first] h = MatMul (x, w) [second] i = MatMul (h, w) [third] y = MatMul (i, w) }");
  QuantizationConfig config;
  config.nodes_to_exclude = {"first", "third"};
  for (const Preset preset : {Preset::Cpu, Preset::OnnxRuntime}) {
    const auto tensors = measurements(model, config, placement_for(preset)).tensors;
    CHECK(std::ranges::count(tensors, "h") == 1);
    CHECK(std::ranges::count(tensors, "x") + std::ranges::count(tensors, "y") == 0);
  }
}

}  // namespace
}  // namespace qtool
