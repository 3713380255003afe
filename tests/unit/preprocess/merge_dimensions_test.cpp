#include "catch.h"
#include "model/graph_view.h"
#include "preprocess/preprocess.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// Name of the first axis of value `c` of a sum whose terms have axes of two names.
std::string first_axis(bool merges) {
  Model model = text_model(R"(agraph (float[N,4] x, float[M,4] w) => (float[A,4] y) {
    a = Neg (x)
    b = Neg (w)
    c = Add (a, b)
    y = Exp (c)
  })");
  PreprocessConfig config;
  config.auto_merge = merges;
  preprocess(model, config);
  for (const auto& value : model.graph().value_info()) {
    if (value.name() == "b") return value.type().tensor_type().shape().dim(0).dim_param();
  }
  return "none";
}

}  // namespace

TEST_CASE("dimensions that meet in a sum get one name where that is asked for", "[preprocess]") {
  CHECK(first_axis(false) == "M");
  CHECK(first_axis(true) == "N");
}

TEST_CASE("the rank behind an unknown operator is guessed where that is asked for",
          "[preprocess]") {
  const auto shape = [](bool guesses) {
    Model model = text_model(
        R"(<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
        agraph (float[2,4] x) => (float y) { a = mine.Act (x) b = Neg (a) y = Exp (b) })");
    PreprocessConfig config;
    config.guess_output_rank = guesses;
    preprocess(model, config);
    return GraphView(model.graph()).shape_of("b");
  };
  CHECK_FALSE(shape(false).has_value());
  CHECK(shape(true) == std::vector<std::int64_t>{-1, -1});
}
