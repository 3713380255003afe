#include "preprocess/runtime_types.h"

#include "catch.h"
#include "model/graph_view.h"
#include "preprocess/preprocess.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("values behind an operator without a rule get ONNX Runtime's types", "[preprocess]") {
  Model model = text_model(R"(<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]>
    agraph (float[N,4] x, float[2,4] c) => (float[N,2] y) {
      a = com.microsoft.CDist <metric = "euclidean"> (x, c)
      b = Neg (a)
      y = Relu (b)
    })");
  std::vector<std::string> notes;
  infer_shapes(model, notes);
  const GraphView view(model.graph());
  CHECK(view.type_of("a") == ElementType::Float);
  CHECK(view.type_of("b") == ElementType::Float);
  CHECK(notes.empty());
}

TEST_CASE(
    "values behind an operator that ONNX Runtime lacks stay without a type, and a note says so",
    "[preprocess]") {
  Model model = text_model(R"(<ir_version: 8, opset_import: ["" : 17, "org.nowhere" : 1]>
    agraph (float[N,4] x) => (float[N,4] y) {
      a = org.nowhere.Frob (x)
      b = Neg (a)
      y = Relu (b)
    })");
  std::vector<std::string> notes;
  infer_shapes(model, notes);
  CHECK(GraphView(model.graph()).type_of("a") == ElementType::Undefined);
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].starts_with("types: 2 values stay without, the first is 'a': "));
}
