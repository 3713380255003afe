#include "model/types.h"

#include "catch.h"
#include "error_text.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::text_proto;

namespace {

std::string refusal(std::string_view text) {
  onnx::ModelProto model = text_proto(text);
  return error_text([&] { check_types(model, "m.onnx"); });
}

}  // namespace

TEST_CASE("types: inputs that do not go together are refused with the node", "[model]") {
  CHECK(refusal("g (float[N] x) => (float[N] y) <int64[1] k = {1}> { [bad] y = Add(x, k) }") ==
        "m.onnx: node 'bad' (Add): B has inconsistent type tensor(int64)");
  CHECK(refusal("g (float[N] x) => (float[N] y) <int64[1] k = {1}> { y = Add(x, k) }") ==
        "m.onnx: node making 'y' (Add): B has inconsistent type tensor(int64)");
  CHECK(refusal("g (bool[N] x) => (bool[N] y) { [bad] y = Exp(x) }") ==
        "m.onnx: node 'bad' (Exp): input typestr: T, has unsupported type: tensor(bool)");
}

TEST_CASE("types: a declared type that is wrong is refused", "[model]") {
  CHECK(refusal("g (float[N] x) => (int64[N] y) { [bad] y = Neg(x) }") ==
        "m.onnx: node 'bad' (Neg): inferred elem type differs from existing elem type: (FLOAT) vs "
        "(INT64)");
}

TEST_CASE("types: the innermost node at fault is named", "[model]") {
  CHECK(refusal(R"(g (float[N] x, bool c) => (float[N] y) <int64[1] k = {1}> {
      [outer] y = If(c) <then_branch = t () => (float[N] a) { [inner] a = Add(x, k) },
                         else_branch = e () => (float[N] b) { b = Abs(x) }>
    })") == "m.onnx: node 'inner' (Add): B has inconsistent type tensor(int64)");
}

TEST_CASE("types: what is not sure is let through", "[model]") {
  // A declared shape that is wrong, and values of an unknown operator.
  CHECK(
      refusal("g (float[N,4] x) => (float[N,5] y) <float[7] t> { t = Neg(x) y = Abs(t) }").empty());
  CHECK(refusal(R"(<ir_version: 8, opset_import: ["" : 17, "org.nowhere" : 1]>
                   g (float[N] x) => (float[N] y) { t = org.nowhere.Frob(x) y = Add(x, t) })")
            .empty());
}

TEST_CASE("types: a Constant may be of a type that its opset does not know", "[model]") {
  const std::string head =
      R"(<ir_version: 3, opset_import: ["" : 8]> g (float[N,4] x) => (float[N] y) {
    [shape] s = Constant <value = int64[1] {-1}> () )";
  CHECK(refusal(head + "y = Reshape (x, s) }").empty());
}

TEST_CASE("types: outputs that say nothing learn their type and shape", "[model]") {
  onnx::ModelProto model =
      text_proto("g (float[N,4] x) => (float[N,4] y, float[1] z) { y = Neg(x) z = Shape(x) }");
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  model.mutable_graph()->mutable_output(1)->clear_type();
  check_types(model, "m.onnx");
  CHECK(model.graph().output(0).type().tensor_type().shape().dim(1).dim_value() == 4);
  CHECK(model.graph().output(1).type().tensor_type().elem_type() == onnx::TensorProto::INT64);
  CHECK(model.graph().output(1).type().tensor_type().shape().dim(0).dim_value() == 2);
}
