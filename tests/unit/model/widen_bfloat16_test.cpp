#include "model/widen_bfloat16.h"

#include <cstring>

#include "catch.h"
#include "model/check.h"
#include "model/graph_view.h"
#include "model/save.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr auto kHead = "<ir_version: 10, opset_import: [\"\" : 22]> ";

/// A bfloat16 constant: the text syntax has none.
onnx::TensorProto narrow_tensor(const char* name, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    std::memcpy(&bytes[2 * i], reinterpret_cast<const std::byte*>(&values[i]) + 2, 2);
  const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
  return make_tensor(name, ElementType::BFloat16, shape, bytes);
}

Model model_with(const char* text, const onnx::TensorProto& constant) {
  onnx::ModelProto proto = text_proto(std::string(kHead) + text);
  *proto.mutable_graph()->add_initializer() = constant;
  return Model(std::move(proto));
}

std::string op_types(const onnx::GraphProto& graph) {
  std::string out;
  for (const auto& node : graph.node()) out += (out.empty() ? "" : " ") + node.op_type();
  return out;
}

}  // namespace

TEST_CASE("bfloat16 becomes float32 behind inputs and in front of outputs", "[model]") {
  Model model =
      model_with("agraph (bfloat16[2] x) => (bfloat16[2] y) { h = Add (x, w) y = Relu (h) }",
                 narrow_tensor("w", {1.5F, -0.25F}));
  REQUIRE(widen_bfloat16(model));
  CHECK(op_types(model.graph()) == "Cast Add Relu Cast");
  CHECK(model.graph().input(0).type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16);
  CHECK(model.graph().output(0).type().tensor_type().elem_type() == onnx::TensorProto::BFLOAT16);
  const Tensor w = model.tensor(*GraphView(model.graph()).initializer("w"));
  CHECK(w.type == ElementType::Float);
  CHECK(to_float32(w) == std::vector{1.5F, -0.25F});
  CHECK_NOTHROW(check_model(model, "widened"));
  CHECK_FALSE(widen_bfloat16(
      model = Model(text_proto("agraph (float[2] x) => (float[2] y) { y = Relu (x) }"))));
}

TEST_CASE("types that nodes and bodies speak of widen with the values", "[model]") {
  Model model = model_with(R"(agraph (float[2] x, bool c) => (float[2] y) {
    n = Cast <to = 16> (x)
    i = If (c) <
      then_branch = yes () => (bfloat16[2] a) { a = Add (n, w) },
      else_branch = no () => (bfloat16[2] b) { b = RandomNormalLike <dtype = 16> (n) }>
    y = Cast <to = 1> (i) })",
                           narrow_tensor("w", {2, 3}));
  REQUIRE(widen_bfloat16(model));
  CHECK(op_types(model.graph()) == "Cast If Cast");
  CHECK(int_attribute(model.graph().node(0), "to", 0) == onnx::TensorProto::FLOAT);
  for_each_graph(model.graph(), [](const onnx::GraphProto& graph) {
    CHECK(graph.output(0).type().tensor_type().elem_type() == onnx::TensorProto::FLOAT);
  });
  CHECK_NOTHROW(check_model(model, "widened"));
}

TEST_CASE("a bfloat16 input that a body reads, or that is an output or has a default, stays one",
          "[model]") {
  Model model = model_with(
      R"(agraph (bfloat16[2] x, bfloat16[2] w, bool c) => (bfloat16[2] x, bfloat16[2] y) {
    y = If (c) <
      then_branch = yes () => (bfloat16[2] a) { a = Add (x, w) },
      else_branch = no () => (bfloat16[2] b) { b = Neg (x) }> })",
      narrow_tensor("w", {2, 3}));
  REQUIRE(widen_bfloat16(model));
  CHECK(op_types(model.graph()) == "Cast Cast If Cast");
  CHECK(element_type(*GraphView(model.graph()).initializer("w")) == ElementType::BFloat16);
  CHECK_NOTHROW(check_model(model, "widened"));
}
