#include "preprocess/clamps_to_max_and_min.h"

#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Model replaced(const std::string& body, int opset = 13) {
  const Model before = text_model("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                                  "]> agraph (float[2,3] x) => (float[2,3] y) <float low = {-0.5}, "
                                  "float high = {0.25}> { " +
                                  body + " }");
  return after_pass(before, [](Model& model) {
    clamps_to_max_and_min(model, {"y"});
    return true;
  });
}

std::string left(const std::string& body, int opset = 13) {
  return op_types(replaced(body, opset).graph());
}

}  // namespace

TEST_CASE("clamps_to_max_and_min: Relu becomes Max, Clip what its bounds are", "[preprocess]") {
  CHECK(left("y = Relu (x)") == "Max");
  CHECK(left("y = Clip (x, low)") == "Max");
  CHECK(left("y = Clip (x, , high)") == "Min");
  CHECK(left("y = Clip (x, low, high)") == "Max Min");
  CHECK(replaced("y = Clip (x, low, high)").graph().node(1).output(0) == "y");
}

TEST_CASE("clamps_to_max_and_min: what makes none of the values, or has no bounds, stays",
          "[preprocess]") {
  CHECK(left("r = Relu (x) y = Neg (r)") == "Relu Neg");
  CHECK(left("y = Clip (x)") == "Clip");
  CHECK(left("y = Clip <min = -0.5, max = 0.25> (x)", 10) == "Clip");
}
