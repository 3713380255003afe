#include "quantize/size_nodes.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::text_model;

namespace {

std::vector<bool> found(const std::string& signature, const std::string& body) {
  const Model model = text_model("<ir_version: 8, opset_import: [\"\" : 17]> agraph " + signature +
                                 " { " + body + " }");
  return size_nodes(GraphView(model.graph()));
}

using Flags = std::vector<bool>;

}  // namespace

TEST_CASE("size nodes: what ends in scales of a Resize, through other nodes", "[quantize]") {
  CHECK(found("(float[1,1,2,2] x, float[2] a) => (float[1,1,N,M] y) <float[0] roi = {}>",
              "d = Mul (a, a) s = Concat <axis = 0> (a, d) y = Resize (x, roi, s)") ==
        Flags{true, true, false});
}

TEST_CASE("size nodes: what ends in a shape, behind casts to integers", "[quantize]") {
  CHECK(found("(float[2,3] x, float two) => (float[N,M] y)",
              "s = Shape (x) f = Cast <to = 1> (s) h = Mul (f, two) i = Cast <to = 7> (h) "
              "y = Reshape (x, i)") == Flags{true, true, true, true, false});
}

TEST_CASE("size nodes: data that is resized is none, nor is what another node reads too",
          "[quantize]") {
  CHECK(found("(float[1,1,2,2] x, float[4] s) => (float[1,1,N,M] y) <float[0] roi = {}>",
              "d = Mul (x, x) y = Resize (d, roi, s)") == Flags{false, false});
  CHECK(found("(float[1,1,2,2] x, float[4] a) => (float[1,1,N,M] y, float[4] z) "
              "<float[0] roi = {}>",
              "s = Mul (a, a) z = Neg (s) y = Resize (x, roi, s)") == Flags{false, false, false});
}

TEST_CASE("size nodes: an output of the graph and an unread value are none", "[quantize]") {
  CHECK(found("(float[1,1,2,2] x, float[4] a) => (float[1,1,N,M] y, float[4] s) "
              "<float[0] roi = {}>",
              "s = Mul (a, a) y = Resize (x, roi, s)") == Flags{false, false});
  CHECK(found("(float[2] x) => (float[2] y)", "u = Neg (x) y = Abs (x)") == Flags{false, false});
}
