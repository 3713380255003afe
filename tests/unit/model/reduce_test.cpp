#include "model/reduce.h"

#include <string>
#include <vector>

#include "catch.h"
#include "text_model.h"

namespace qtool {
namespace {

onnx::TensorProto weight(const std::string& name) {
  onnx::TensorProto out;
  out.set_name(name);
  out.set_data_type(onnx::TensorProto::FLOAT);
  out.add_dims(25);
  out.set_raw_data(std::string(100, 'r'));
  return out;
}

/// An initializer `w`, and a constant in a branch beside an initializer `v` of it.
onnx::ModelProto model_with_weights() {
  onnx::ModelProto model = testing::text_proto(R"(g (bool c, float[25] x) => (float[25] y) {
    y = If (c) <then_branch = t () => (float[25] p) { p = Mul (x, w) },
                else_branch = e () => (float[25] q) { k = Constant () q = Sum (x, k, v) }>
  })");
  *model.mutable_graph()->add_initializer() = weight("w");
  auto& body = *model.mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g();
  *body.add_initializer() = weight("v");
  auto& attribute = *body.mutable_node(0)->add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  *attribute.mutable_t() = weight("");
  return model;
}

std::string reduce(const std::string& file, const Reduction& reduction) {
  return reduce_message(std::as_bytes(std::span(file)), reduction, "m.onnx");
}

}  // namespace

TEST_CASE("reduce: asks about every large tensor and says where it stands", "[model]") {
  std::vector<std::string> seen;
  const auto take_none = [&](const TensorInFile& tensor) {
    CHECK(tensor.head.dims(0) == 25);
    CHECK_FALSE(tensor.head.has_raw_data());
    CHECK(tensor.values.payload.size() == 100);
    seen.push_back(tensor.head.name() + (tensor.is_initializer ? " initializer" : " attribute"));
    return false;
  };
  const std::string file = model_with_weights().SerializeAsString();
  CHECK(reduce(file, {.location = "f", .least_bytes = 100, .takes = take_none}) == file);
  CHECK(seen == std::vector<std::string>{" attribute", "v initializer", "w initializer"});
  seen.clear();
  CHECK(reduce(file, {.location = "f", .least_bytes = 101, .takes = take_none}) == file);
  CHECK(seen.empty());
}

TEST_CASE("reduce: what is taken is named by its place in the file, the rest stays", "[model]") {
  const std::string file = model_with_weights().SerializeAsString();
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(
      reduce(file, {.location = "f.onnx", .least_bytes = 1, .takes = [](const TensorInFile& each) {
                      return each.head.name() == "w";
                    }})));
  auto& taken = *model.mutable_graph()->mutable_initializer(0);
  REQUIRE(taken.data_location() == onnx::TensorProto::EXTERNAL);
  REQUIRE(taken.external_data_size() == 3);
  CHECK(taken.external_data(0).value() == "f.onnx");
  CHECK(file.substr(std::stoul(taken.external_data(1).value()), 100) == std::string(100, 'r'));
  CHECK(taken.external_data(2).value() == "100");
  taken = weight("w");
  CHECK(model.SerializeAsString() == file);
}

}  // namespace qtool
