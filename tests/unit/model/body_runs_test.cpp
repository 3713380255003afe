#include "model/body_runs.h"

#include "catch.h"
#include "model/graph_view.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// What the first node's bodies do, by the initializers of the graph.
template <typename Ask>
auto ask(const std::string& text, const Ask& question) {
  const Model model = text_model(text);
  const GraphView graph(model.graph());
  return question(graph.node(0), [&](const std::string& name) { return graph.initializer(name); });
}

std::optional<bool> condition(const std::string& name, const std::string& initializer) {
  return ask(
      "agraph (float[2] x, bool c) => (float[2] y) <" + initializer + "> { y = If (" + name + R"() <
      then_branch = a () => (float[2] b) { b = Neg (x) },
      else_branch = d () => (float[2] e) { e = Exp (x) }
    > })",
      constant_condition);
}

std::optional<std::int64_t> rounds(const std::string& controls, const std::string& body) {
  return ask(
      "agraph (float[2] x, int64 m, bool q) => (y) <int64 n = {3}, bool p = {1}, "
      "bool no = {0}, int64 less = {-1}, int64 endless = {9223372036854775807}> {"
      "y = Loop (" +
          controls + ", x) <body = step (i, go, v) => (on, w) { w = Neg (v) " + body + "}> }",
      constant_round_count);
}

const std::string kGoesOn = "on = Identity (go)";

}  // namespace

TEST_CASE("body runs: a condition is known where it is a constant", "[model]") {
  CHECK(condition("p", "bool p = {1}") == true);
  CHECK(condition("p", "bool[1] p = {0}") == false);
  CHECK_FALSE(condition("c", "bool p = {1}"));
}

TEST_CASE("body runs: a count of rounds is known where no condition ends the loop", "[model]") {
  CHECK(rounds("n, p", kGoesOn) == 3);
  CHECK(rounds("n, \"\"", "on = Constant <value = bool {1}> ()") == 3);
  CHECK(rounds("n, p", "on = Identity (p)") == 3);
  CHECK(rounds("n, p", "same = Identity (go) on = Identity (same)") == 3);
  CHECK(rounds("less, p", kGoesOn) == 0);
}

TEST_CASE("body runs: a count that is computed, or may not be reached, is not known", "[model]") {
  CHECK_FALSE(rounds("m, p", kGoesOn));
  CHECK_FALSE(rounds("n, q", kGoesOn));
  CHECK_FALSE(rounds("n, no", kGoesOn));
  CHECK_FALSE(rounds("endless, p", kGoesOn));
  CHECK_FALSE(rounds("n, p", "on = Not (go)"));
  CHECK_FALSE(rounds("n, p", "on = Constant <value = bool {0}> ()"));
}
