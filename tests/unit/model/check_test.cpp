#include "model/check.h"

#include "catch.h"
#include "error_text.h"
#include "model/save.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::text_proto;

namespace {

std::string refusal(const onnx::ModelProto& model) {
  return error_text([&] { check_sound(model, "m.onnx"); });
}

std::string refusal(std::string_view text) { return refusal(text_proto(text)); }

}  // namespace

TEST_CASE("check: a sound model passes", "[model]") {
  CHECK(refusal("g (float[N] x) => (float[N] y) { y = Neg(x) }").empty());
}

TEST_CASE("check: what the ONNX checker says comes in one line with the node", "[model]") {
  CHECK(refusal("g (float[N,4] x) => (float[N,4] y) { [cat] y = Concat(x, x) }") ==
        "m.onnx: node 'cat' (Concat): required attribute 'axis' is missing");
  CHECK(refusal("g (float[N,4] x) => (float[N,4] y) { y = Concat(x, x) }") ==
        "m.onnx: node making 'y' (Concat): required attribute 'axis' is missing");
  CHECK(refusal("g (float[N,4] x) => (float[N,4] y) { [cat] y = Concat<axis = 1.5>(x, x) }") ==
        "m.onnx: node 'cat' (Concat): mismatched attribute type in 'axis'. Expected: 'INT', "
        "actual: 'FLOAT'");
  CHECK(refusal("g (float[N,4] x) => (float[N,4] y) { [n] y = Neg(x, x) }") ==
        "m.onnx: node 'n' (Neg): node with schema(::Neg:13) has input size 2 not in range [min=1, "
        "max=1]");
}

TEST_CASE("check: unknown operators and domains are refused by name", "[model]") {
  CHECK(refusal("g (float[N] x) => (float[N] y) { [n] y = Frobnicate(x) }") ==
        "m.onnx: node 'n' (Frobnicate): ONNX has no operator of that type\n"
        "  hint: an operator of another library needs that library's domain");
  CHECK(refusal("g (float[N] x) => (float[N] y) { [n] y = Gelu(x) }") ==
        "m.onnx: node 'n' (Gelu): opset 17 has no operator of that type");
  CHECK(refusal("g (float[N] x) => (float[N] y) { [n] y = org.nowhere.Frob(x) }") ==
        "m.onnx: node 'n' (Frob): no opset import for domain 'org.nowhere'");
  CHECK(refusal("g (float[N] x) => (float[N] y) { [n] y = Affine<alpha = 1.0>(x) }") ==
        "m.onnx: node 'n' (Affine): ONNX has no operator of that type\n"
        "  hint: an operator of another library needs that library's domain");
}

TEST_CASE("check: a custom operator of an imported domain passes", "[model]") {
  CHECK(refusal(R"(<ir_version: 8, opset_import: ["" : 17, "org.nowhere" : 1]>
                   g (float[N] x) => (float[N] y) { y = org.nowhere.Frob(x) })")
            .empty());
}

TEST_CASE("check: sparse tensors with wild indices or shapes are refused", "[model]") {
  onnx::ModelProto model = text_proto("g (float[4,4] x) => (float[4,4] y) { y = MatMul(x, w) }");
  auto& sparse = *model.mutable_graph()->add_sparse_initializer();
  sparse.add_dims(4);
  sparse.add_dims(4);
  const float values[] = {1, 2};
  const std::int64_t indices[] = {1, std::int64_t{1} << 40};
  const std::int64_t shape[] = {2};
  *sparse.mutable_values() =
      make_tensor("w", ElementType::Float, shape, std::as_bytes(std::span(values)));
  *sparse.mutable_indices() =
      make_tensor("w_i", ElementType::Int64, shape, std::as_bytes(std::span(indices)));
  CHECK(refusal(model) ==
        "m.onnx: sparse tensor (w_i) index value at position [1] out of range [0, 15]");
  sparse.set_dims(0, std::int64_t{1} << 62);
  CHECK(refusal(model) == "m.onnx: sparse tensor 'w': impossible shape 4611686018427387904x4");
}

TEST_CASE("check: types that are none are refused in inputs and outputs", "[model]") {
  onnx::ModelProto model = text_proto("g (float[N] x) => (float[N] y) { y = Neg(x) }");
  auto& graph = *model.mutable_graph();
  graph.mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(77);
  CHECK(refusal(model) == "m.onnx: graph output 'y': unknown data type 77");
  graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(0);
  CHECK(refusal(model) == "m.onnx: graph input 'x': unknown data type 0");
}

TEST_CASE("check: a default value has the type of its input", "[model]") {
  CHECK(refusal("g (float[1] w) => (float[1] y) <int64[1] w = {1}> { y = Neg(w) }") ==
        "m.onnx: tensor 'w' has type int64, expected float32 as the graph input of that name");
}

TEST_CASE("check: an input of unknown rank passes on loading, not on writing", "[model]") {
  onnx::ModelProto proto = text_proto("g (float x) => (float y) { y = Neg(x) }");
  proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  CHECK(refusal(proto).empty());
  const Model model(proto);
  CHECK(error_text([&] { check_model(model, "out.onnx"); }) ==
        "out.onnx: graph input 'x' has no shape, which the ONNX checker demands");
  proto.mutable_graph()->mutable_input(0)->clear_type();
  CHECK(refusal(proto) == "m.onnx: graph input 'x' has no type");
}
