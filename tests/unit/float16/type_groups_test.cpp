#include "float16/type_groups.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// Groups of the only node, each as its inputs, outputs and whether it takes the type.
std::string groups_of(const std::string& text, ElementType target = ElementType::Float16) {
  const Model model = text_model(text);
  std::string out;
  for (const TypeGroup& group : types_of_node(model.graph().node(0), model, target).groups) {
    if (!out.empty()) out += " ";
    for (const int slot : group.inputs) out += std::to_string(slot);
    out += ">";
    for (const int slot : group.outputs) out += std::to_string(slot);
    out += group.takes_target ? "+" : "-";
  }
  return out;
}

std::string in_opset(const std::string& opset, const std::string& graph) {
  return "<ir_version: 8, opset_import: [\"\" : " + opset + ", \"com.microsoft\" : 1]> " + graph;
}

}  // namespace

TEST_CASE("type groups: slots with one type variable are one group", "[float16]") {
  CHECK(groups_of("agraph (float[2] x, float[2] w) => (float[2] y) { y = Add (x, w) }") == "01>0+");
  CHECK(groups_of("agraph (float[2,4] x, float[4] s) => (float[2,4] y, float[2,1] m) { y, m = "
                  "LayerNormalization (x, s) }") == "01>0+ >1-");
}

TEST_CASE("type groups: the opset decides", "[float16]") {
  const std::string graph =
      "agraph (float[2] x, float s, uint8 z) => (uint8[2] y) { y = QuantizeLinear (x, s, z) }";
  CHECK(groups_of(in_opset("13", graph)) == "0>- 1>-");
  CHECK(groups_of(in_opset("19", graph)) == "01>+");
  const std::string relu = "agraph (float[2] x) => (float[2] y) { y = Relu (x) }";
  CHECK(groups_of(in_opset("13", relu), ElementType::BFloat16) == "0>0+");
  CHECK(groups_of(in_opset("11", relu), ElementType::BFloat16) == "0>0-");
}

TEST_CASE("type groups: where Resize looks stays float32", "[float16]") {
  CHECK(groups_of("agraph (float[1,1,2,2] x, float[8] roi, float[4] s) => (float[1,1,4,4] y) { y = "
                  "Resize (x, roi, s) }") == "0>0+ 1>- 2>-");
}

TEST_CASE("type groups: operators of ONNX Runtime are told by the table", "[float16]") {
  CHECK(groups_of(in_opset("17",
                           "agraph (float[2,4] x, float[2,4] k, float[4] s) => (float[2,4] y) "
                           "{ y = com.microsoft.SkipLayerNormalization (x, k, s) }")) == "012>0+");
  CHECK(groups_of(in_opset("17",
                           "agraph (float[1,4,2,2] x, float[4] s, float[4] b) => "
                           "(float[1,4,2,2] y) { y = com.microsoft.GroupNorm <activation: int "
                           "= 0, groups: int = 2, epsilon: float = 0.1> (x, s, b) }")) ==
        "0>0+ 1>- 2>-");
}
