#include "catch.h"
#include "graph_text.h"
#include "preprocess/passes.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("bodies of functions take the place of their calls, under unique names", "[preprocess]") {
  Model model = text_model(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    agraph (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1, 2, 3, 4}> {
      t = local.Dense (x, w)
      y = local.Dense (t, w)
    }
    <domain: "local", opset_import: ["" : 17]>
    Dense (a, b) => (c) { t = MatMul (a, b) c = Relu (t) })");
  const Model before = model.clone();
  inline_functions(model);

  CHECK(op_types(model.graph()) == "MatMul Relu MatMul Relu");
  CHECK(model.graph().node(0).output(0) != model.graph().node(2).output(0));
  CHECK(model.graph().node(0).output(0) != "t");
  CHECK(model.proto().functions_size() == 0);
  CHECK(difference(before, model) == 0);
}

TEST_CASE("attributes of a call and defaults of its function reach the body", "[preprocess]") {
  Model model = text_model(R"(<ir_version: 9, opset_import: ["" : 17, "local" : 1]>
    agraph (float[2,2] x) => (float[2,2] y, float[2,2] z) {
      y = local.Soft (x)
      z = local.Soft <alpha = 0.25> (x)
    }
    <domain: "local", opset_import: ["" : 17]>
    Soft <alpha: float = 0.75> (a) => (c) { c = LeakyRelu <alpha: float = @alpha> (a) })");
  const Model before = model.clone();
  inline_functions(model);

  REQUIRE(op_types(model.graph()) == "LeakyRelu LeakyRelu");
  CHECK(float_attribute(model.graph().node(0), "alpha", 0) == 0.75F);
  CHECK(float_attribute(model.graph().node(1), "alpha", 0) == 0.25F);
  CHECK(difference(before, model) == 0);
}

TEST_CASE("the model imports what only its functions imported", "[preprocess]") {
  Model model = text_model(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    agraph (float[2,2] x) => (float[2,2] y) { y = local.Act (x) }
    <domain: "local", opset_import: ["" : 17, "com.microsoft" : 1]>
    Act (a) => (c) { c = com.microsoft.Gelu (a) })");
  inline_functions(model);
  CHECK(model.opset("com.microsoft") == 1);
  CHECK(op_types(model.graph()) == "Gelu");
}
