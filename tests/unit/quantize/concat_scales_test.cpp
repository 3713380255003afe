#include "quantize/concat_scales.h"

#include "base/error.h"
#include "catch.h"
#include "model/graph_view.h"
#include "model/save.h"
#include "run_model.h"
#include "runtime/session.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr auto kHead = "<ir_version: 9, opset_import: [\"\" : 19]> ";

/// The model with constants `s` (a float16 scale) and `z`: the text syntax has no float16.
Model with_scale(const std::string& text) {
  onnx::ModelProto proto = text_proto(kHead + text);
  const float scale = 0.5F;
  *proto.mutable_graph()->add_initializer() =
      make_float_tensor("s", ElementType::Float16, {}, std::span(&scale, 1));
  return Model(std::move(proto));
}

}  // namespace

TEST_CASE("a Concat of float16 values between pairs gets float32 scales, and loads", "[quantize]") {
  Model model =
      with_scale(R"(agraph (float16[1,2] a, float16[1,2] b) => (float16[1,4] y, float16[1,2] n)
    <uint8 z = {3}> {
      qa = QuantizeLinear (a, s, z)
      da = DequantizeLinear (qa, s, z)
      qb = QuantizeLinear (b, s, z)
      db = DequantizeLinear (qb, s, z)
      n = Neg (db)
      c = Concat <axis = 1> (da, db)
      qc = QuantizeLinear (c, s, z)
      y = DequantizeLinear (qc, s, z) })");
  CHECK_THROWS_AS(Session(model, {}), Error);
  give_concats_float32_scales(model);
  CHECK_NOTHROW(check_model(model, "lowered"));
  CHECK_NOTHROW(Session(model, {}));
  const GraphView view(model.graph());
  const auto& concat = view.node(view.producer_of("c"));
  for (const auto& input : concat.input()) {
    const auto& dequantizer = view.node(view.producer_of(input));
    CHECK(view.type_of(dequantizer.input(1)) == ElementType::Float);
  }
  CHECK(view.type_of(view.node(view.producer_of("y")).input(1)) == ElementType::Float16);
  CHECK(view.producer_of("da") == -1);  // the Concat alone read it
  CHECK(view.producer_of("db") >= 0);
}

TEST_CASE("a Concat that no integer operator replaces keeps its scales", "[quantize]") {
  Model model = with_scale(R"(agraph (float16[1,2] a) => (float16[1,4] c) <uint8 z = {3}> {
      qa = QuantizeLinear (a, s, z)
      da = DequantizeLinear (qa, s, z)
      c = Concat <axis = 1> (da, da) })");
  const std::string before = model.proto().SerializeAsString();
  give_concats_float32_scales(model);
  CHECK(model.proto().SerializeAsString() == before);
}

TEST_CASE("a Concat in a body is found with the scale that lies outside", "[quantize]") {
  Model model = with_scale(R"(agraph (float16[1,2] a, bool p) => (float16[1,4] y) <uint8 z = {3}> {
      qa = QuantizeLinear (a, s, z)
      y = If (p) <
        then_branch = yes () => (float16[1,4] t) {
          da = DequantizeLinear (qa, s, z)
          c = Concat <axis = 1> (da, da)
          qc = QuantizeLinear (c, s, z)
          t = DequantizeLinear (qc, s, z) },
        else_branch = no () => (float16[1,4] e) {
          db = DequantizeLinear (qa, s, z)
          e = Concat <axis = 1> (db, db) }> })");
  give_concats_float32_scales(model);
  CHECK_NOTHROW(check_model(model, "lowered"));
  CHECK_NOTHROW(Session(model, {}));
  const auto& then_branch = model.graph().node(1).attribute(0).g();
  const GraphView view(then_branch);
  const auto& concat = view.node(view.producer_of("c"));
  const auto& dequantizer = view.node(view.producer_of(concat.input(0)));
  CHECK(view.type_of(dequantizer.input(1)) == ElementType::Float);
  CHECK(view.producer_of("da") == -1);
}
