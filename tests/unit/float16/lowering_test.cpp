#include "float16/lowering.h"

#include <cmath>
#include <limits>
#include <set>

#include "catch.h"
#include "converted.h"
#include "model/float_values.h"
#include "verify/feed.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("float16: infinities and NaN of weights stay what they are", "[float16]") {
  onnx::ModelProto proto = text_proto(
      "agraph (float[3] x) => (float[3] y) <float[3] w = {0, 0, -1e-12}> { y = Add (x, w) }");
  proto.mutable_graph()->mutable_initializer(0)->set_float_data(
      0, -std::numeric_limits<float>::infinity());
  proto.mutable_graph()->mutable_initializer(0)->set_float_data(
      1, std::numeric_limits<float>::quiet_NaN());
  Model model(proto);
  const Float16Plan plan = plan_float16(model, {});
  const Model out = lower_float16(std::move(model), plan);
  const auto values = to_float32(out.tensor(out.graph().initializer(0)));
  CHECK(values[0] == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(values[1]));
  CHECK(values[2] == -0x1p-24F);
}

TEST_CASE("float16: names of casts meet none of the model's", "[float16]") {
  const Model model = converted(
      "agraph (float[2] x) => (float[2] y, float[2] x_float16, float[2] y_float16) { y = Relu (x) "
      "x_float16 = Exp (x) y_float16 = Relu (y) }");
  CHECK(model.graph().output(1).name() == "x_float16");
  CHECK(count_of(model, "Cast") == 4);
}

TEST_CASE("float16: an input with an initializer takes its type", "[float16]") {
  Float16Config config;
  const std::string text =
      "agraph (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }";
  for (const bool keeps : {true, false}) {
    config.keep_io_types.all = keeps;
    const Model model = converted(text, config);
    const ElementType type = keeps ? ElementType::Float : ElementType::Float16;
    CHECK(element_type(model.graph().initializer(0)) == type);
    CHECK(tensor_info(model.graph().input(1)).type == type);
  }
}

TEST_CASE("float16: an output that is an initializer or an input has its name and a sound type",
          "[float16]") {
  Float16Config config;
  const std::string text =
      "agraph (float[2] x) => (float[2] w, float[2] x, float[2] y) <float[2] w = {1, 2}> { y = Add "
      "(x, w) }";
  CHECK(difference(text_model(text), converted(text, config)) < kNear);
  config.keep_io_types = {.all = false, .names = {"y"}};
  const Model model = converted(text, config);
  CHECK(tensor_info(model.graph().output(0)).type == ElementType::Float16);
  CHECK(tensor_info(model.graph().output(1)).type == ElementType::Float16);
  CHECK(tensor_info(model.graph().output(2)).type == ElementType::Float);
}

TEST_CASE("float16: optional inputs that are left out, and inputs that nobody reads, stay so",
          "[float16]") {
  const Model model = converted(
      "agraph (float[2] x, float[2] unused) => (float[2] y) <float high = {6}> { y = Clip (x, , "
      "high) }");
  REQUIRE(model.graph().input_size() == 2);
  CHECK(model.graph().node(1).input(1).empty());
  CHECK(count_of(model, "Cast") == 2);
}

TEST_CASE("float16: functions of a model are inlined before", "[float16]") {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]> agraph (float[2] x) => (float[2] "
      "y) { y = local.f (x) } <domain: \"local\", opset_import: [\"\" : 17]> f (a) => (b) { c = "
      "Constant <value_float: float = 0.5> () d = Mul (a, c) b = Sigmoid (d) }";
  Model model = text_model(text);
  inline_functions(model);
  std::vector<std::string> notes;
  infer_shapes(model, notes);
  const Float16Plan plan = plan_float16(model, {});
  CHECK(plan.left.empty());
  const Model out = lower_float16(std::move(model), plan);
  CHECK(difference(text_model(text), Model(out.proto())) < kNear);
}

TEST_CASE("float16: an operator that nobody knows stays in float32, with casts around it",
          "[float16]") {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"custom\" : 1]> agraph (float[2] x) => (float[2] "
      "y) <float[2] w = {1, 2}> { a = Relu (x) b = custom.Op (a) y = Add (b, w) }";
  Model model = text_model(text);
  const Float16Plan plan = plan_float16(model, {});
  REQUIRE(plan.left.size() == 1);
  CHECK(plan.left[0].reason == "the operator is not known");
  const Model out = lower_float16(std::move(model), plan);
  CHECK(count_of(out, "Cast") == 4);
  CHECK(element_type(out.graph().initializer(0)) == ElementType::Float16);
}

TEST_CASE("float16: recurrent layers, sequences and optionals load and run", "[float16]") {
  for (const std::string body :
       {"s = SplitToSequence <axis: int = 0> (x) y = ConcatFromSequence <axis: int = 0> (s)",
        "s = SequenceEmpty () t = SequenceInsert (s, x) y = ConcatFromSequence <axis: int = 0> (t)",
        "o = Optional (x) e = OptionalGetElement (o) y = Relu (e)"}) {
    const std::string text = "agraph (float[2,3] x) => (float[2,3] y) { " + body + " }";
    INFO(body);
    CHECK(difference(text_model(text), converted(text)) < kNear);
  }
}
