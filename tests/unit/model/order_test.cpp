#include "model/order.h"

#include "catch.h"
#include "error_text.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::text_proto;

namespace {

/// Operator types in the order that the main graph ends up in.
std::string ordered(std::string_view text) {
  onnx::ModelProto model = text_proto(text);
  order_nodes(model, "m.onnx");
  std::string out;
  for (const auto& node : model.graph().node()) out += (out.empty() ? "" : " ") + node.op_type();
  return out;
}

std::string refusal(std::string_view text) {
  return error_text([&] { ordered(text); });
}

}  // namespace

TEST_CASE("order: nodes that are in order stay where they are", "[model]") {
  CHECK(ordered("g (float[N] x) => (float[N] y) { b = Neg(x) a = Abs(x) y = Add(a, b) }") ==
        "Neg Abs Add");
}

TEST_CASE("order: a node comes after what it reads, others keep their places", "[model]") {
  CHECK(ordered(
            "g (float[N] x) => (float[N] y) { y = Add(a, b) c = Exp(x) a = Abs(b) b = Neg(x) }") ==
        "Exp Neg Abs Add");
}

TEST_CASE("order: a node comes after what its subgraph takes from outside", "[model]") {
  CHECK(ordered(R"(g (float[N] x, bool c) => (float[N] y) {
      y = If(c) <then_branch = t () => (float[N] a) { a = Neg(late) }, else_branch = e () => (float[N] b) { b = Abs(x) }>
      late = Exp(x)
    })") == "Exp If");
}

TEST_CASE("order: subgraphs and functions are brought into order as well", "[model]") {
  onnx::ModelProto model = text_proto(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[N] x, bool c) => (float[N] y) {
      y = If(c) <then_branch = t () => (float[N] a) { a = Neg(q) q = Exp(x) }, else_branch = e () => (float[N] b) { b = local.F(x) }>
    }
    <domain: "local", opset_import: ["" : 17]> F (i) => (o) { o = Abs(p) p = Sqrt(i) })");
  order_nodes(model, "m.onnx");
  CHECK(model.graph().node(0).attribute(0).g().node(0).op_type() == "Exp");
  CHECK(model.functions(0).node(0).op_type() == "Sqrt");
}

TEST_CASE("order: a cycle is refused with its nodes", "[model]") {
  CHECK(refusal("g (float[N] x) => (float[N] y) { [n1] a = Add(x, b) [n2] b = Relu(a) [n3] y = "
                "Relu(b) }") == "m.onnx: nodes form a cycle: node 'n2' (Relu), node 'n1' (Add)");
  CHECK(refusal("g (float[N] x) => (float[N] y) { y = Add(x, y) }") ==
        "m.onnx: nodes form a cycle: node making 'y' (Add)");
  CHECK(refusal("g (float[N] x) => (float[N] f) { a = Add(x, f) b = Neg(a) c = Neg(b) d = Neg(c) e "
                "= Neg(d) f = Neg(e) }") ==
        "m.onnx: nodes form a cycle: node making 'b' (Neg), node making 'c' (Neg), node making 'd' "
        "(Neg), "
        "node making 'e' (Neg), … (6 nodes)");
}

TEST_CASE("order: a value that nobody makes is refused", "[model]") {
  CHECK(refusal("g (float[N] x) => (float[N] y) { [n1] y = Add(x, ghost) }") ==
        "m.onnx: node 'n1' (Add): input 'ghost' is made by no node and is no graph input or "
        "initializer");
  CHECK(refusal("g (float[N] x) => (float[N] y, float[N] phantom) { y = Neg(x) }") ==
        "m.onnx: graph output 'phantom' is made by no node of its graph");
  CHECK(refusal(R"(g (float[N] x, bool c) => (float[N] y) {
      y = If(c) <then_branch = t () => (float[N] a) { [deep] a = Neg(ghost) }, else_branch = e () => (float[N] b) { b = Abs(x) }>
    })") ==
        "m.onnx: node 'deep' (Neg): input 'ghost' is made by no node and is no graph input or "
        "initializer");
  CHECK(refusal(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[N] x) => (float[N] y) { y = local.F(x) }
    <domain: "local", opset_import: ["" : 17]> F (i) => (o) { [n] o = Abs(x) })") ==
        "m.onnx: function 'F': node 'n' (Abs): input 'x' is made by no node and is no input of the "
        "function");
}

TEST_CASE("order: a value that is made twice is refused with both makers", "[model]") {
  CHECK(refusal("g (float[N] x) => (float[N] y) { [n1] t = Relu(x) [n2] t = Neg(x) y = Abs(t) }") ==
        "m.onnx: value 't' is made twice: by node 'n1' (Relu) and by node 'n2' (Neg)");
  CHECK(refusal(
            "g (float[N] x) => (float[N] y) <float[1] w = {1}> { [n1] w = Relu(x) y = Neg(w) }") ==
        "m.onnx: node 'n1' (Relu): output 'w' is also an initializer");
  CHECK(refusal("g (float[N] x) => (float[N] x) { [n1] x = Relu(x) }") ==
        "m.onnx: node 'n1' (Relu): output 'x' is also a graph input");
  CHECK(refusal("g (float[N] x, float[N] x) => (float[N] y) { y = Relu(x) }") ==
        "m.onnx: graph input 'x' is declared twice");
  CHECK(refusal("g (float[N] x) => (float[N] y) <float[1] w = {1}, float[1] w = {2}> { y = Add(x, "
                "w) }") == "m.onnx: initializer 'w' is there twice");
}

TEST_CASE("order: a default value of a graph input is no second maker", "[model]") {
  CHECK(ordered("g (float[1] x = {1}) => (float[1] y) { y = Neg(x) }") == "Neg");
}

TEST_CASE("order: names that are empty are refused", "[model]") {
  onnx::ModelProto model = text_proto("g (float[N] x) => (float[N] y) { y = Neg(x) }");
  model.mutable_graph()->add_output();
  CHECK(error_text([&] { order_nodes(model, "m.onnx"); }) ==
        "m.onnx: a graph output has an empty name");
  model.mutable_graph()->add_initializer();
  CHECK(error_text([&] { order_nodes(model, "m.onnx"); }) ==
        "m.onnx: an initializer has an empty name");
  model.mutable_graph()->add_input();
  CHECK(error_text([&] { order_nodes(model, "m.onnx"); }) ==
        "m.onnx: a graph input has an empty name");
}

TEST_CASE("order: 100,000 nodes in reverse are ordered in one go", "[model]") {
  onnx::ModelProto model = text_proto("g (float[N] x) => (float[N] v0) { v0 = Neg(x) }");
  constexpr int kCount = 100'000;
  auto& nodes = *model.mutable_graph()->mutable_node();
  nodes.Clear();
  for (int i = 0; i < kCount; ++i) {
    auto& node = *nodes.Add();
    node.set_op_type("Neg");
    node.add_output("v" + std::to_string(i));
    node.add_input(i + 1 < kCount ? "v" + std::to_string(i + 1) : "x");
  }
  order_nodes(model, "m.onnx");
  CHECK(nodes[0].input(0) == "x");
  CHECK(nodes[kCount - 1].output(0) == "v0");
}
