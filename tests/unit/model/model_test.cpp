#include "model/model.h"

#include <cstdint>
#include <span>
#include <string>

#include "catch.h"
#include "error_text.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::TempDir;
using qtool::testing::text_model;
using qtool::testing::text_proto;

TEST_CASE("model: one made in memory has its tensors as raw_data", "[model]") {
  const Model model =
      text_model("g (float[N,2] x) => (float[N,2] y) <float[2] b = {1, 2.5}> { y = Add(x, b) }");
  CHECK(model.path().empty());
  CHECK(model.graph().initializer(0).raw_data().size() == 8);
  CHECK(to_float32(model.tensor(model.graph().initializer(0))) == std::vector<float>{1, 2.5});
}

TEST_CASE("model: one made in memory is checked as a loaded one is", "[model]") {
  onnx::ModelProto proto = text_proto("g (float[N] x) => (float[N] y) { y = Add(x, ghost) }");
  CHECK(error_text([&] { Model{proto}; }) ==
        "model: node making 'y' (Add): input 'ghost' is made by no node and is no graph input or "
        "initializer");
  proto = text_proto("g (float[N] x) => (float[N] y) <float[1] w = {1}> { y = Add(x, w) }");
  proto.mutable_graph()->mutable_initializer(0)->set_data_location(onnx::TensorProto::EXTERNAL);
  CHECK(error_text([&] { Model{proto}; }) ==
        "model: tensor 'w': has external data, expected none in a model made in memory");
}

TEST_CASE("model: a clone shares the mapped file and nothing else", "[model]") {
  const TempDir folder;
  onnx::ModelProto proto = text_proto("g (float[N] x) => (float[N] y) { y = Add(x, w) }");
  const std::string values(4000, '\0');
  const std::int64_t shape[] = {1000};
  *proto.mutable_graph()->add_initializer() = make_tensor(
      "w", ElementType::Float, shape, std::as_bytes(std::span(values.data(), values.size())));
  Model model = load_model(folder.write("m.onnx", proto.SerializeAsString()));
  const Model clone = model.clone();
  model.graph().mutable_node(0)->set_op_type("Mul");
  model = Model();
  CHECK(clone.graph().node(0).op_type() == "Add");
  CHECK(clone.path() == folder / "m.onnx");
  CHECK(clone.tensor(clone.graph().initializer(0)).bytes.size() == 4000);
}

TEST_CASE("model: the default domain is asked for by either name", "[model]") {
  Model model = text_model("g (float[N] x) => (float[N] y) { y = Neg(x) }");
  CHECK(model.opset() == 17);
  CHECK(model.opset("ai.onnx") == 17);
  CHECK(model.opset("com.microsoft") == 0);
  model.set_opset("ai.onnx", 18);
  model.set_opset("com.microsoft", 1);
  CHECK(model.opset() == 18);
  CHECK(model.opset("com.microsoft") == 1);
  CHECK(model.proto().opset_import_size() == 2);
}

TEST_CASE("model: inputs that a run must be given are those without a default", "[model]") {
  const Model model = text_model(
      "g (float[N,3,?] x, int64[1] k = {1}, string[2] s) => (float[N,3,M] y) { y = Identity(x) }");
  const auto inputs = required_inputs(model.graph());
  REQUIRE(inputs.size() == 2);
  CHECK(inputs[0].name == "x");
  CHECK(describe(inputs[0]) == "float32[N,3,?]");
  CHECK(inputs[0].shape == std::vector<std::int64_t>{-1, 3, -1});
  CHECK(inputs[1].type == ElementType::String);
}

TEST_CASE("model: attributes have fallbacks", "[model]") {
  const Model model =
      text_model("g (float[N,4] x) => (float[N,4] y) { y = LeakyRelu<alpha = 0.25>(x) }");
  const auto& node = model.graph().node(0);
  CHECK(float_attribute(node, "alpha", 1) == 0.25f);
  CHECK(float_attribute(node, "beta", 1) == 1);
  CHECK(int_attribute(node, "axis", -1) == -1);
  CHECK(string_attribute(node, "mode", "none") == "none");
  CHECK(find_attribute(node, "alpha") != nullptr);
  CHECK(find_attribute(node, "beta") == nullptr);
}

TEST_CASE("model: a node is described by its name, or by what it makes", "[model]") {
  onnx::NodeProto node;
  node.set_op_type("Conv");
  CHECK(describe(node) == "unnamed node (Conv)");
  node.add_output("");
  node.add_output("y");
  CHECK(describe(node) == "node making 'y' (Conv)");
  node.set_name("conv1");
  CHECK(describe(node) == "node 'conv1' (Conv)");
}

TEST_CASE("model: tensors made in memory have shape, type and bytes", "[model]") {
  const float values[] = {1, 2, 3, 4, 5, 6};
  const std::int64_t shape[] = {2, 3};
  const auto tensor = make_tensor("t", ElementType::Float, shape, std::as_bytes(std::span(values)));
  CHECK(tensor.name() == "t");
  CHECK(element_count(tensor) == 6);
  CHECK(element_type(tensor) == ElementType::Float);
  CHECK(tensor.raw_data().size() == 24);
}

TEST_CASE("a tensor of floats is made in the type that is asked for", "[model]") {
  const float values[] = {1.0F, -2.5F, 0.1F};
  const std::int64_t shape[] = {3};
  const auto half = make_float_tensor("s", ElementType::Float16, shape, values);
  CHECK(half.name() == "s");
  CHECK(element_type(half) == ElementType::Float16);
  CHECK(half.raw_data() == std::string("\x00\x3C\x00\xC1\x66\x2E", 6));
  const auto single = make_float_tensor("s", ElementType::Float, shape, values);
  CHECK(element_count(single) == 3);
  CHECK(single.raw_data().size() == 12);
  CHECK(make_float_tensor("s", ElementType::Float, {}, std::span(values).first(1)).dims_size() ==
        0);
}
