#include "inspect/body_rounds.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

double rounds(const std::string& text, const std::string& attribute) {
  const Model model = text_model(text);
  const GraphView graph(model.graph());
  return rounds_of(graph, graph.node(0), attribute);
}

std::string if_of(const std::string& inputs) {
  return "agraph (float[2] x" + inputs + R"() => (float[2] y) <bool p = {1}> {
    y = If (p) <
      then_branch = a () => (float[2] b) { b = Neg (x) },
      else_branch = d () => (float[2] e) { e = Exp (x) }
    > })";
}

std::string scan_of(const std::string& type, const std::string& attributes) {
  return "agraph (float[3] h, " + type + " x) => (last, all) {" +
         "last, all = Scan <num_scan_inputs = 1, " + attributes +
         "body = step (s, e) => (n, o) { n = Add (s, e) o = Identity (n) }> (h, x) }";
}

}  // namespace

TEST_CASE("body rounds: a branch that never runs costs nothing", "[inspect]") {
  CHECK(rounds(if_of(""), "then_branch") == 1);
  CHECK(rounds(if_of(""), "else_branch") == 0);
}

TEST_CASE("body rounds: a condition that callers may replace leaves both branches", "[inspect]") {
  CHECK(rounds(if_of(", bool p"), "then_branch") == 1);
  CHECK(rounds(if_of(", bool p"), "else_branch") == 1);
}

TEST_CASE("body rounds: a Loop of a constant count runs so often", "[inspect]") {
  const auto loop = [](const std::string& count) {
    return rounds("agraph (float[2] x, int64 m) => (y) <int64 n = {3}, bool p = {1}> { y = Loop (" +
                      count + ", p, x) <body = step (i, go, v) => (on, w) {" +
                      "on = Identity (go) w = Neg (v) }> }",
                  "body");
  };
  CHECK(loop("n") == 3);
  CHECK(loop("m") == 1);
}

TEST_CASE("body rounds: a Scan runs once for each element that it scans", "[inspect]") {
  CHECK(rounds(scan_of("float[7,3]", ""), "body") == 7);
  CHECK(rounds(scan_of("float[3,5]", "scan_input_axes = [-1], "), "body") == 5);
  CHECK(rounds(scan_of("float[T,3]", ""), "body") == 1);
}
