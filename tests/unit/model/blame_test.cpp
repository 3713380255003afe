#include "model/blame.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::text_proto;

TEST_CASE("blame: marked nodes are found again in what ONNX says", "[model]") {
  const onnx::ModelProto marked =
      with_marked_nodes(text_proto("g (float[N] x) => (float[N] y) { [n] a = Neg(x) y = Abs(a) }"));
  const std::string named = marked.graph().node(0).name();
  const std::string unnamed = marked.graph().node(1).name();
  CHECK(marked_node("Bad node spec. Name: " + named + " OpType: Neg") == "node 'n' (Neg)");
  CHECK(marked_node("(" + named + "): outer (" + unnamed + "): inner") == "node making 'y' (Abs)");
  CHECK(after_marked_node("(" + named + "): outer (" + unnamed + "): inner") == "): inner");
  CHECK(marked_node("nothing").empty());
  CHECK(after_marked_node("nothing") == "nothing");
}

TEST_CASE("blame: words of a library become one line of ours", "[model]") {
  CHECK(reworded("Field 'x' is missing.\n") == "field 'x' is missing");
  CHECK(reworded("SSA form\nis broken") == "SSA form is broken");
  const std::string marked =
      with_marked_nodes(text_proto("g (float[N] x) => (float[N] y) { [n] y = Neg(x) }"))
          .graph()
          .node(0)
          .name();
  CHECK(reworded("Mismatch in '" + marked + " : axis'.") == "mismatch in 'axis'");
  CHECK(reworded("").empty());
}
