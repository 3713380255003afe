#include "base/error.h"
#include "catch.h"
#include "model/graph_view.h"
#include "preprocess/passes.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;
using Shape = std::vector<std::int64_t>;

namespace {

Model two_inputs() {
  return text_model(R"(agraph (float[N,T,4] x, float[N,3] z) => (float[N,T,4] y) <float[N,T,4] a> {
    a = Relu (x)
    y = Neg (a)
  })");
}

std::string refusal(const PreprocessConfig& config) {
  Model model = two_inputs();
  try {
    set_input_shapes(model, config);
  } catch (const Error& error) {
    return std::string(error.what()) + (error.hint().empty() ? "" : " | " + error.hint());
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a size given to a symbol holds wherever the symbol stands", "[preprocess]") {
  Model model = two_inputs();
  PreprocessConfig config;
  config.dims = {{"N", 2}};
  set_input_shapes(model, config);
  const GraphView view(model.graph());
  CHECK(view.shape_of("x") == Shape{2, -1, 4});
  CHECK(view.shape_of("z") == Shape{2, 3});
  CHECK(view.shape_of("a") == Shape{2, -1, 4});
  CHECK(view.shape_of("y") == Shape{2, -1, 4});
}

TEST_CASE("a shape given to an input sets its symbols everywhere; -1 leaves an axis free",
          "[preprocess]") {
  Model model = two_inputs();
  PreprocessConfig config;
  config.override_shapes = {{"x", {-1, 7, 4}}};
  set_input_shapes(model, config);
  const GraphView view(model.graph());
  CHECK(view.shape_of("x") == Shape{-1, 7, 4});
  CHECK(view.shape_of("y") == Shape{-1, 7, 4});
  CHECK(view.shape_of("z") == Shape{-1, 3});
}

TEST_CASE("names and shapes that do not fit the model are wrong use", "[preprocess]") {
  PreprocessConfig config;
  config.dims = {{"Nn", 2}};
  CHECK(
      refusal(config) ==
      "preprocess.dims.Nn: no input has a dimension of that name | did you mean 'N'? known: N, T");
  config.dims = {{"N", 0}};
  CHECK(refusal(config) == "preprocess.dims.N: 0, expected a size above 0");
  config.dims = {};
  config.override_shapes = {{"q", {1}}};
  CHECK(refusal(config) ==
        "preprocess.override_shapes.q: the model has no input of that name | did you mean 'x'? "
        "known: x, z");
  config.override_shapes = {{"z", {1, 2, 3}}};
  CHECK(refusal(config) ==
        "preprocess.override_shapes.z: 1x2x3 has 3 axes, expected 2 as in float32[N,3]");
  config.override_shapes = {{"z", {1, 5}}};
  CHECK(refusal(config) == "preprocess.override_shapes.z: size 5 of axis 1, expected 3");
  config.override_shapes = {{"x", {2, 7, 4}}, {"z", {3, 3}}};
  CHECK(refusal(config) == "preprocess.override_shapes.z: size 3 of axis 0, expected 2");
}
