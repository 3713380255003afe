#include "inspect/decisions.h"

#include "catch.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::text_proto;
using Outcome = NodeDecision::Outcome;

TEST_CASE("decisions: every node has one, with the plan's reason for those in float", "[inspect]") {
  const auto model = text_proto(R"(agraph (float[2] x) => (float[2] y) {
      a = Relu (x) b = Exp (a) c = Relu (b) y = Neg (c) })");
  QuantPlan plan;
  plan.quantized_nodes = {0};
  plan.folded = {{2, "b", "c"}};
  plan.skipped = {{1, "", "Exp", "", "the operator has no 8-bit form"},
                  {0, "", "Relu", "x", "has no range"}};
  const auto decisions = node_decisions(model.graph(), plan);
  REQUIRE(decisions.size() == 4);
  CHECK(decisions[0].outcome == Outcome::Quantized);
  CHECK(decisions[1].outcome == Outcome::Float);
  CHECK(decisions[1].reason == "the operator has no 8-bit form");
  CHECK(decisions[2].outcome == Outcome::Folded);
  CHECK(decisions[3].reason == "none of its inputs is quantized");
}

TEST_CASE("decisions: what is left in float includes subgraphs and single tensors", "[inspect]") {
  const auto model = text_proto(R"(agraph (float[2] x, bool c) => (float[2] y) {
      a = Relu (x)
      y = If (c) <then_branch = t () => (float[2] p) { p = Abs (a) },
                  else_branch = e () => (float[2] q) { q = Neg (a) }> })");
  QuantPlan plan;
  plan.quantized_nodes = {0};
  plan.skipped = {{1, "", "If", "", "the operator has no 8-bit form"},
                  {0, "", "Relu", "x", "has no range"}};
  const PlanOutcome outcome = outcome_of(model.graph(), plan);
  CHECK(outcome.quantized_nodes == 1);
  CHECK(outcome.folded_nodes == 0);
  CHECK(outcome.float_nodes == 3);
  const auto& left = outcome.left;
  REQUIRE(left.size() == 4);
  CHECK(left[0].node_name == "y");
  CHECK(left[0].reason == "the operator has no 8-bit form");
  CHECK(left[1].op_type == "Abs");
  CHECK(left[1].reason == "lies in a subgraph");
  CHECK(left[2].op_type == "Neg");
  CHECK(left[3].tensor == "x");
}

}  // namespace
}  // namespace qtool
