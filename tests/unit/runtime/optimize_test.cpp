#include "runtime/optimize.h"

#include "catch.h"
#include "graph_text.h"
#include "model/save.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("what ONNX Runtime makes of a graph computes the same and imports what it uses",
          "[runtime]") {
  const Model before = text_model(R"(agraph (float[1,2] x) => (float[1,2] y)
    <float[2,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}> {
    a = Identity (x)
    m = MatMul (a, w)
    y = Add (m, b)
  })");
  const Model after = optimize_by_runtime(before, SessionConfig::Optimization::Basic);
  CHECK(op_types(after.graph()) == "Gemm");
  CHECK(after.proto().opset_import_size() == 1);
  CHECK_NOTHROW(check_model(after, "result"));
  CHECK(difference(before, after) <= 1e-6);
}

TEST_CASE("what ONNX Runtime refuses is an error of the model", "[runtime]") {
  const Model model = text_model(R"(<ir_version: 8, opset_import: ["" : 17, "mine" : 1]>
    agraph (float[2] x) => (float[2] y) { y = mine.Act (x) })");
  CHECK_THROWS(optimize_by_runtime(model, SessionConfig::Optimization::Basic));
}
