#include "model/einsum.h"

#include "catch.h"
#include "error_text.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::text_proto;

namespace {

std::string refusal(const std::string& equation) {
  const onnx::ModelProto model =
      text_proto("g (float[2,3] x, float[3,4] z) => (float[2,4] y) { [e] y = Einsum<equation = \"" +
                 equation + "\">(x, z) }");
  return error_text([&] { check_einsum(model, "m.onnx"); });
}

}  // namespace

TEST_CASE("einsum: equations of every usual form pass", "[model]") {
  for (const char* equation :
       {"ij,jk->ik", " ij , jk -> ik ", "...ij,...jk->...ik", "ij,jk", "ij,jk->", "Ab...,bC", ""}) {
    CHECK(refusal(equation) == "");
  }
}

TEST_CASE("einsum: equations that ONNX would never finish with are refused", "[model]") {
  for (const char* equation : {"i.j,jk->ik", "i1,jk->ik", "..ij,jk->ik", "ij......,jk", "ij;jk",
                               "ij,jk->i.k", "ij->jk->ik"}) {
    CHECK(refusal(equation) == "m.onnx: node 'e' (Einsum): malformed equation '" +
                                   std::string(equation) + "', expected terms like 'ij,jk->ik'");
  }
}

TEST_CASE("einsum: an equation that a function passes on is looked at where it comes from",
          "[model]") {
  const auto refusal_of_call = [](const std::string& equation) {
    const onnx::ModelProto model = text_proto(
        R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
           g (float[2,3] x, float[3,4] z) => (float[2,4] y) { [call] y = local.F<outer = ")" +
        equation + R"(">(x, z) }
           <domain: "local", opset_import: ["" : 17, "local" : 1]> F <outer> (a, b) => (o) { o = local.G<inner: string = @outer>(a, b) }
           <domain: "local", opset_import: ["" : 17]> G <inner> (a, b) => (o) { o = Einsum<equation: string = @inner>(a, b) })");
    return error_text([&] { check_einsum(model, "m.onnx"); });
  };
  CHECK(refusal_of_call("ij,jk->ik") == "");
  CHECK(
      refusal_of_call("i.j,jk->ik") ==
      "m.onnx: node 'call' (F): malformed equation 'i.j,jk->ik', expected terms like 'ij,jk->ik'");
}
