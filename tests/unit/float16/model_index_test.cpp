#include "float16/model_index.h"

#include <algorithm>

#include "catch.h"
#include "converted.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("model index: a body reads the value of the graph around it", "[float16]") {
  const Model model = typed_model(
      "agraph (float[2] x, bool c) => (float[2] y) { a = Relu (x) y = If (c) <then_branch = t () "
      "=> "
      "(float[2] v) { v = Exp (a) }, else_branch = e () => (float[2] v) { v = Neg (a) }> }");
  const ModelIndex index(model);
  REQUIRE(index.graphs().size() == 3);
  REQUIRE(index.nodes().size() == 4);
  CHECK(index.node(1).is("If"));
  CHECK(index.node(1).bodies == std::vector<int>{1, 2});
  const int a = index.node(0).outputs[0];
  CHECK(index.node(2).inputs[0] == a);
  CHECK(index.node(3).inputs[0] == a);
  CHECK(index.value(a).uses.size() == 2);
  // One name, two values.
  CHECK(index.graphs()[1].outputs[0] != index.graphs()[2].outputs[0]);
  CHECK(std::ranges::all_of(index.values(), [](const IndexedValue& value) {
    return value.kind == IndexedValue::Kind::Tensor;
  }));
}
