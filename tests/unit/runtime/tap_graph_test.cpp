#include "runtime/tap_graph.h"

#include "base/error.h"
#include "catch.h"
#include "text_model.h"

namespace qtool {
namespace {

using Catch::Matchers::Equals;
using Names = std::vector<std::string>;

onnx::GraphProto graph_of(std::string_view text) { return testing::text_proto(text).graph(); }

/// The tap numbers of the observers, in node order.
std::vector<std::int64_t> observed(const onnx::GraphProto& graph) {
  std::vector<std::int64_t> out;
  for (const auto& node : graph.node()) {
    if (node.op_type() == "Observe") out.push_back(node.attribute(0).i());
  }
  return out;
}

constexpr const char* kChain = R"(g (float[4] x) => (float[4] y) {
  a = Relu (x)
  b = Neg (a)
  c = Abs (a)
  y = Add (b, c)
})";

}  // namespace

TEST_CASE("part_that_makes keeps the nodes before a value and drops those behind and beside it",
          "[runtime]") {
  const auto graph = graph_of(kChain);
  CHECK(part_that_makes(graph, Names{"c"}).nodes == std::vector<int>{0, 2});
  CHECK(part_that_makes(graph, Names{"a", "b"}).nodes == std::vector<int>{0, 1});
  CHECK(part_that_makes(graph, Names{"x"}).nodes.empty());
  CHECK(part_that_makes(graph, Names{"y"}).nodes == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("part_that_makes follows values that a subgraph takes from outside", "[runtime]") {
  const auto graph = graph_of(R"(g (bool c, float[4] x) => (float[4] y) {
    unused = Neg (x)
    a = Relu (x)
    b = Abs (x)
    y = If (c) <then_branch = t () => (float[4] z) { z = Neg (a) },
                else_branch = e () => (float[4] w) { w = Identity (b) }>
  })");
  CHECK(part_that_makes(graph, Names{"y"}).nodes == std::vector<int>{1, 2, 3});
}

TEST_CASE("part_that_makes refuses a name that no value has", "[runtime]") {
  const auto graph = graph_of(kChain);
  CHECK_THROWS_WITH(part_that_makes(graph, Names{"nope"}),
                    Equals("tap 'nope': is not a value of the graph"));
}

TEST_CASE("observers stand in the reverse order of the nodes that make their values", "[runtime]") {
  auto graph = graph_of(kChain);
  const auto order = graph;
  add_observers(graph, order, Names{"c", "x", "y", "a"});
  CHECK(observed(graph) == std::vector<std::int64_t>{2, 0, 3, 1});
}

TEST_CASE("a value of a body keeps the node that has the body, and is observed in there",
          "[runtime]") {
  const char* text = R"(g (bool c, float[4] x) => (float[4] y) {
    unused = Neg (x)
    a = Relu (x)
    y = If (c) <then_branch = t () => (float[4] z) { z = Neg (a) },
                else_branch = e () => (float[4] w) { z = Abs (a) w = Identity (z) }>
  })";
  auto graph = graph_of(text);
  const auto order = graph;
  CHECK(part_that_makes(graph, Names{"z"}).nodes == std::vector<int>{1, 2});
  add_observers(graph, order, Names{"a", "z"});
  CHECK(observed(graph) == std::vector<std::int64_t>{0});
  for (const auto& branch : graph.node(2).attribute())
    CHECK(observed(branch.g()) == std::vector<std::int64_t>{1});
}

TEST_CASE("the constant output gets a name that nothing else has", "[runtime]") {
  auto graph = graph_of("g (float[4] qtool_done) => (float[4] y) { y = Relu (qtool_done) }");
  const auto order = graph;
  graph.clear_output();
  add_observers(graph, order, Names{"y"});
  REQUIRE(graph.output_size() == 1);
  CHECK(graph.output(0).name() == "qtool_done_1");
}

}  // namespace qtool
