#include "runtime/try_load.h"

#include <string>

#include "catch.h"
#include "temp_dir.h"
#include "text_model.h"

namespace qtool {
namespace {

constexpr std::int64_t kLarge = 50'000;

/// A float32 initializer `name` with `bytes` bytes of values.
onnx::TensorProto weight(const std::string& name, std::int64_t count, std::size_t bytes) {
  onnx::TensorProto out;
  out.set_name(name);
  out.set_data_type(onnx::TensorProto::FLOAT);
  out.add_dims(count);
  out.set_raw_data(std::string(bytes, '\1'));
  return out;
}

onnx::TensorProto weight(const std::string& name) {
  return weight(name, kLarge, static_cast<std::size_t>(kLarge) * 4);
}

/// y = x * w
onnx::ModelProto product(const onnx::TensorProto& w) {
  auto proto = testing::text_proto("g (float[50000] x) => (float[50000] y) { y = Mul (x, w) }");
  *proto.mutable_graph()->add_initializer() = w;
  return proto;
}

LoadResult load(const onnx::ModelProto& proto) {
  const testing::TempDir folder;
  return try_load(folder.write("m.onnx", proto.SerializeAsString()), 1);
}

}  // namespace

TEST_CASE("try_load tells a model that loads from one with unknown operators and from a broken one",
          "[runtime]") {
  const auto good = load(product(weight("w")));
  CHECK(good.loads);
  CHECK(good.message.empty());

  auto proto = product(weight("w"));
  proto.mutable_graph()->mutable_node(0)->set_op_type("Mull");
  const auto unknown = load(proto);
  CHECK_FALSE(unknown.loads);
  CHECK(unknown.unknown_operator);

  const testing::TempDir folder;
  const auto broken = try_load(folder.write("broken.onnx", "no model"), 1);
  CHECK_FALSE(broken.loads);
  CHECK_FALSE(broken.unknown_operator);
  CHECK(broken.message == "Protobuf parsing failed");
}

TEST_CASE("try_load refuses a large weight whose values do not fit its type and shape",
          "[runtime]") {
  for (const std::size_t bytes : {199'996, 200'001, 200'004})
    CHECK_FALSE(load(product(weight("w", kLarge, bytes))).loads);
  auto tensor = weight("w");
  for (const auto type : {onnx::TensorProto::STRING, onnx::TensorProto::UNDEFINED}) {
    tensor.set_data_type(type);
    CHECK_FALSE(load(product(tensor)).loads);
  }
  tensor = weight("w");
  tensor.set_dims(0, -kLarge);
  CHECK_FALSE(load(product(tensor)).loads);
  tensor.set_dims(0, (std::int64_t{1} << 62) + kLarge);
  CHECK_FALSE(load(product(tensor)).loads);
}

TEST_CASE("try_load refuses a large weight of a type that its reader does not take", "[runtime]") {
  auto tensor = weight("w");
  tensor.set_data_type(onnx::TensorProto::INT32);
  CHECK_FALSE(load(product(tensor)).loads);
}

TEST_CASE("try_load reads large sizes that shapes come from", "[runtime]") {
  constexpr int kParts = 9000;
  auto proto = testing::text_proto("g (float[9000] x) => (float[K] y0) { y0 = Split (x, sizes) }");
  for (int i = 1; i < kParts; ++i)
    proto.mutable_graph()->mutable_node(0)->add_output("y" + std::to_string(i));
  std::vector<std::int64_t> sizes(kParts, 1);
  const auto add = [&] {
    auto& tensor = *proto.mutable_graph()->add_initializer();
    tensor.set_name("sizes");
    tensor.set_data_type(onnx::TensorProto::INT64);
    tensor.add_dims(kParts);
    tensor.set_raw_data(sizes.data(), sizes.size() * sizeof sizes[0]);
  };
  add();
  CHECK(load(proto).loads);
  proto.mutable_graph()->clear_initializer();
  sizes[1] = 3;
  add();
  CHECK_FALSE(load(proto).loads);
}

TEST_CASE("try_load takes large weights wherever they may be", "[runtime]") {
  auto proto = testing::text_proto(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (bool c, float[50000] x) => (float[50000] y) {
      y = If (c) <then_branch = t () => (float[50000] p) { p = local.F (x) },
                  else_branch = e () => (float[50000] q) { k = Constant () q = Sum (x, k, w, v) }>
    }
    <domain: "local", opset_import: ["" : 17]> F (i) => (o) { f = Constant () o = Mul (i, f) })");
  const auto set_value = [](onnx::NodeProto& node) {
    auto& attribute = *node.add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    *attribute.mutable_t() = weight("");
  };
  *proto.mutable_graph()->add_initializer() = weight("w");
  auto& body = *proto.mutable_graph()->mutable_node(0)->mutable_attribute(1)->mutable_g();
  *body.add_initializer() = weight("v");
  set_value(*body.mutable_node(0));
  set_value(*proto.mutable_functions(0)->mutable_node(0));
  const auto result = load(proto);
  CHECK(result.message.empty());
  CHECK(result.loads);
}

TEST_CASE("try_load finds external data beside a model that is reached by a link", "[runtime]") {
  const testing::TempDir folder;
  auto proto = testing::text_proto("g (float[50000] x) => (float[50000] y) { y = Sum (x, w, v) }");
  *proto.mutable_graph()->add_initializer() = weight("w");
  auto& tensor = *proto.mutable_graph()->add_initializer();
  tensor = weight("v");
  folder.write("real/v.data", tensor.raw_data());
  tensor.clear_raw_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("v.data");
  folder.write("real/m.onnx", proto.SerializeAsString());
  std::filesystem::create_symlink("real/m.onnx", folder / "link.onnx");
  CHECK(try_load(folder / "real/m.onnx", 1).loads);
  CHECK(try_load(folder / "link.onnx", 1).loads);
}

}  // namespace qtool
