#include "inspect/explain.h"

#include "catch.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::text_proto;

onnx::ModelProto convolution() {
  return text_proto(R"(agraph (float[N,1,4,4] x) => (float[N,2,2,2] y)
    <float[2,1,1,2] w = {1, 2, 3, 4}, float[2] b = {1, 2}> {
      [conv] y = Conv (x, w, b)
      [clip] z = Clip (y, , b)
    })");
}

QuantPlan plan_of_convolution() {
  TensorPlan input, weight;
  input.name = "x";
  input.params.type = ElementType::UInt8;
  input.uses = {{0, 0}};
  input.derivation = "measured";
  weight.name = "w";
  weight.role = TensorPlan::Role::Constant;
  weight.params.type = ElementType::Int8;
  weight.params.axis = 0;
  weight.uses = {{0, 1}};
  weight.derivation = "weights";
  QuantPlan plan;
  plan.tensors = {input, weight};
  plan.quantized_nodes = {0};
  plan.skipped = {{1, "clip", "Clip", "", "its input is not quantized"}};
  return plan;
}

std::string text_of(const ExplainedValue& value) {
  return value.name + " | " + value.source + " | " + value.type + " | " + value.becomes;
}

TEST_CASE("explain: a quantized node shows what becomes of each value", "[inspect]") {
  const auto node = explain_node(convolution().graph(), plan_of_convolution(),
                                 placement_for(Preset::Cpu), "conv");
  REQUIRE(node);
  CHECK(node->op_type == "Conv");
  CHECK(node->decision.outcome == NodeDecision::Outcome::Quantized);
  REQUIRE(node->inputs.size() == 3);
  CHECK(text_of(node->inputs[0]) == "x | graph input | float32[N,1,4,4] | uint8, measured");
  CHECK(text_of(node->inputs[1]) ==
        "w | weight | float32[2,1,1,2] | int8, weights, per channel (axis 0)");
  CHECK(text_of(node->inputs[2]) ==
        "b | weight | float32[2] | int32, scale of the input x scale of the weight");
  REQUIRE(node->outputs.size() == 1);
  CHECK(text_of(node->outputs[0]) == "y | graph output | float32[N,2,2,2] | float");
}

TEST_CASE("explain: a node in float says why, and an input left out is no input", "[inspect]") {
  const auto node =
      explain_node(convolution().graph(), plan_of_convolution(), placement_for(Preset::Cpu), "z");
  REQUIRE(node);
  CHECK(node->name == "clip");
  CHECK(node->decision.reason == "its input is not quantized");
  CHECK(text_of(node->inputs[0]) == "y | node 'conv' (Conv) | float32[N,2,2,2] | float");
  CHECK(text_of(node->inputs[1]) == " | not given |  | ");
  CHECK(text_of(node->outputs[0]) == "z |  | unknown | float");
}

TEST_CASE("explain: what is no node is not found", "[inspect]") {
  CHECK_FALSE(
      explain_node(convolution().graph(), plan_of_convolution(), placement_for(Preset::Cpu), "x"));
  CHECK_FALSE(
      explain_node(convolution().graph(), plan_of_convolution(), placement_for(Preset::Cpu), ""));
}

TEST_CASE("explain: a node of a subgraph is found there and has the given reason", "[inspect]") {
  const auto model = text_proto(R"(agraph (float[2] x, bool c) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] p) { [inner] p = Abs (x) },
                  else_branch = e () => (float[2] q) { q = Neg (x) }> })");
  const auto node = explain_unplanned_node(model.graph(), "inner", "lies in a subgraph");
  REQUIRE(node);
  CHECK(node->op_type == "Abs");
  CHECK(node->decision.reason == "lies in a subgraph");
  CHECK(text_of(node->inputs[0]) == "x | outer graph | unknown | float");
  CHECK(explainable_names(model.graph()) == std::vector<std::string>{"y", "inner", "p", "q"});
}

}  // namespace
}  // namespace qtool
