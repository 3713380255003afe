#include "inspect/summary.h"

#include "catch.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::text_model;

TEST_CASE("summary: operators are counted with the weights that they read first", "[inspect]") {
  const ModelSummary summary = summarize(text_model(R"(
    agraph (float[N,2] x) => (float[N,3] y)
      <float[2,3] w = {1,2,3,4,5,6}, float[3] b = {1,2,3}, int64[4] unused = {1,2,3,4}> {
        h = MatMul (x, w)
        s = Add (h, b)
        t = Add (s, b)
        y = Relu (t)
      })"));
  CHECK(summary.node_count == 4);
  REQUIRE(summary.operators.size() == 3);
  CHECK(summary.operators[0].op_type == "Add");
  CHECK(summary.operators[0].node_count == 2);
  CHECK(summary.operators[0].weight_elements == 3);
  CHECK(summary.operators[0].weight_bytes == 12);
  CHECK(summary.operators[1].op_type == "MatMul");
  CHECK(summary.operators[1].weight_bytes == 24);
  CHECK(summary.operators[2].op_type == "Relu");
  CHECK(summary.operators[2].weight_bytes == 0);
  CHECK(summary.unused_weight_count == 1);
  CHECK(summary.weight_elements == 13);
  CHECK(summary.weight_bytes == 24 + 12 + 32);
  REQUIRE(summary.weights.size() == 2);
  CHECK(summary.weights[0].type == ElementType::Float);
  CHECK(summary.weights[0].tensor_count == 2);
  CHECK(summary.weights[0].elements == 9);
  CHECK(summary.weights[1].type == ElementType::Int64);
  CHECK(summary.weights[1].bytes == 32);
}

TEST_CASE("summary: inputs and outputs keep free and named axes", "[inspect]") {
  const ModelSummary summary =
      summarize(text_model("agraph (float[N,2] x) => (float[N,2] y) { y = Relu (x) }"));
  REQUIRE(summary.inputs.size() == 1);
  CHECK(describe(summary.inputs[0]) == "float32[N,2]");
  REQUIRE(summary.outputs.size() == 1);
  CHECK(summary.outputs[0].name == "y");
  REQUIRE(summary.opsets.size() == 1);
  CHECK(summary.opsets[0].domain.empty());
  CHECK(summary.opsets[0].version == 17);
  CHECK(summary.ir_version == 8);
  CHECK(summary.graph_name == "agraph");
}

TEST_CASE("summary: nodes and weights inside subgraphs count", "[inspect]") {
  const ModelSummary summary = summarize(text_model(R"(
    agraph (float[2] x, bool c) => (float[2] y)
      <float[2] outer = {1,2}> {
        y = If (c) <
          then_branch = t () => (float[2] a) <float[2] inner = {3,4}> { b = Add (x, inner) a = Mul (b, outer) },
          else_branch = e () => (float[2] d) { d = Identity (x) }
        >
      })"));
  CHECK(summary.node_count == 4);
  CHECK(summary.subgraph_count == 2);
  CHECK(summary.unused_weight_count == 0);
  CHECK(summary.weight_elements == 4);
  for (const OperatorUse& use : summary.operators) {
    CHECK(use.weight_elements == (use.op_type == "Add" || use.op_type == "Mul" ? 2 : 0));
  }
}

TEST_CASE("summary: the tensor of a Constant node is a weight of its reader", "[inspect]") {
  const ModelSummary summary = summarize(text_model(R"(
    agraph (float[2] x) => (float[2] y) {
      w = Constant <value = float[2] {1, 2}> ()
      y = Mul (x, w)
    })"));
  REQUIRE(summary.operators.size() == 2);
  CHECK(summary.operators[0].op_type == "Constant");
  CHECK(summary.operators[1].weight_bytes == 8);
}

TEST_CASE("summary: operators of other domains are told apart", "[inspect]") {
  const ModelSummary summary = summarize(text_model(R"(
    <ir_version: 8, opset_import: ["" : 17, "my.ops" : 3], producer_name: "maker", producer_version: "1.2">
    agraph (float[2] x) => (float[2] y) { h = my.ops.Relu (x) y = Relu (h) })"));
  REQUIRE(summary.operators.size() == 2);
  CHECK(summary.operators[0].domain.empty());
  CHECK(summary.operators[1].domain == "my.ops");
  REQUIRE(summary.opsets.size() == 2);
  CHECK(summary.opsets[1].version == 3);
  CHECK(summary.producer_name == "maker");
  CHECK(summary.producer_version == "1.2");
}

}  // namespace
}  // namespace qtool
