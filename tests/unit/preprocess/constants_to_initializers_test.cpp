#include "catch.h"
#include "graph_text.h"
#include "preprocess/passes.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("constants of every form become initializers under their names", "[preprocess]") {
  Model model = text_model(R"(agraph (float[2] x) => (float[2] y, int64[2] n) {
    a = Constant <value = float[2] {1, 2}> ()
    b = Constant <value_float = 3.0> ()
    c = Constant <value_floats = [4.0, 5.0]> ()
    d = Constant <value_int = 6> ()
    e = Constant <value_ints = [7, 8]> ()
    s = Constant <value_string = "one"> ()
    t = Constant <value_strings = ["two", "three"]> ()
    xa = Add (x, a)
    xb = Add (xa, b)
    y = Add (xb, c)
    n = Add (d, e)
  })");
  const Model before = model.clone();
  constants_to_initializers(model);

  const auto& graph = model.graph();
  CHECK(op_types(graph) == "Add Add Add Add");
  CHECK(initializer_names(graph) == "a b c d e s t");
  CHECK(graph.initializer(1).dims_size() == 0);
  CHECK(graph.initializer(2).dims(0) == 2);
  CHECK(graph.initializer(5).string_data(0) == "one");
  CHECK(graph.initializer(6).string_data(1) == "three");
  CHECK(difference(before, model) == 0);
}

TEST_CASE("a sparse constant becomes a sparse initializer", "[preprocess]") {
  onnx::ModelProto proto =
      text_proto("agraph (float[4] x) => (float[4] y) { c = Constant () y = Add (x, c) }");
  auto& attribute = *proto.mutable_graph()->mutable_node(0)->add_attribute();
  attribute.set_name("sparse_value");
  attribute.set_type(onnx::AttributeProto::SPARSE_TENSOR);
  auto& sparse = *attribute.mutable_sparse_tensor();
  sparse.add_dims(4);
  const std::vector<std::int64_t> shape = {1}, index = {2};
  const std::vector<float> value = {5};
  *sparse.mutable_values() =
      make_tensor("", ElementType::Float, shape, std::as_bytes(std::span(value)));
  *sparse.mutable_indices() =
      make_tensor("", ElementType::Int64, shape, std::as_bytes(std::span(index)));
  Model model(std::move(proto));
  const Model before = model.clone();
  constants_to_initializers(model);

  CHECK(op_types(model.graph()) == "Add");
  REQUIRE(model.graph().sparse_initializer_size() == 1);
  CHECK(model.graph().sparse_initializer(0).values().name() == "c");
  CHECK(difference(before, model) == 0);
}

TEST_CASE("a constant that is a graph output stays a node, in every graph", "[preprocess]") {
  Model model = text_model(R"(agraph (bool p) => (float[1] y, float[1] k) {
    k = Constant <value = float[1] {1}> ()
    y = If (p) <
      then_branch = yes () => (float[1] a) { a = Constant <value = float[1] {2}> () },
      else_branch = no () => (float[1] b) { c = Constant <value = float[1] {3}> () b = Add (c, k) }
    >
  })");
  const Model before = model.clone();
  constants_to_initializers(model);

  CHECK(op_types(model.graph()) == "Constant If");
  CHECK(op_types(subgraph(model.graph(), 1, "then_branch")) == "Constant");
  CHECK(op_types(subgraph(model.graph(), 1, "else_branch")) == "Add");
  CHECK(difference(before, model, 1) == 0);
  CHECK(difference(before, model, 2) == 0);
}
