#include "model/parse.h"

#include <string>
#include <string_view>

#include "catch.h"
#include "error_text.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::text_proto;

namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

onnx::ModelProto parse(std::string_view file) { return parse_model(bytes(file), "m.onnx"); }

std::string refusal(std::string_view file) {
  return error_text([&] { parse(file); });
}

/// A model with a weight of 1600 bytes.
onnx::ModelProto weighty_model() {
  onnx::ModelProto model = text_proto("g (float[N,20] x) => (float[N,20] y) { y = MatMul(x, w) }");
  auto& weight = *model.mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(20);
  weight.add_dims(20);
  for (int i = 0; i < 400; ++i) weight.add_float_data(static_cast<float>(i));
  return model;
}

std::string value_of(const onnx::TensorProto& tensor, std::string_view key) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == key) return entry.value();
  }
  return {};
}

/// If inside If, `depth` graphs in all.
std::string nested(int depth) {
  std::string text = "y0 = Neg(x)";
  for (int level = 1; level < depth; ++level) {
    const std::string inner = "y" + std::to_string(level - 1);
    text = "y" + std::to_string(level) + " = If(c) <then_branch = t () => (float[N] " + inner +
           ") { " + text + " }, else_branch = e () => (float[N] e" + inner + ") { e" + inner +
           " = Abs(x) }>";
  }
  return text_proto("g (float[N] x, bool c) => (float[N] y" + std::to_string(depth - 1) + ") { " +
                    text + " }")
      .SerializeAsString();
}

}  // namespace

TEST_CASE("parse: values of a large tensor stay in the file", "[model]") {
  onnx::ModelProto model = weighty_model();
  auto& weight = *model.mutable_graph()->mutable_initializer(0);
  weight.clear_float_data();
  weight.set_raw_data(std::string(1600, 'r'));
  const std::string file = model.SerializeAsString();

  const auto parsed = parse(file).graph().initializer(0);
  CHECK(parsed.name() == "w");
  CHECK_FALSE(parsed.has_raw_data());
  CHECK(parsed.data_location() == onnx::TensorProto::EXTERNAL);
  CHECK(value_of(parsed, "location") == kInModelFile);
  CHECK(value_of(parsed, "length") == "1600");
  CHECK(file.substr(std::stoul(value_of(parsed, "offset")), 1600) == std::string(1600, 'r'));
}

TEST_CASE("parse: packed floats lie in the file as raw_data would", "[model]") {
  const std::string file = weighty_model().SerializeAsString();
  const auto parsed = parse(file).graph().initializer(0);
  CHECK(parsed.float_data_size() == 0);
  float second = 0;
  std::memcpy(&second, file.data() + std::stoul(value_of(parsed, "offset")) + 4, 4);
  CHECK(second == 1);
}

TEST_CASE("parse: small tensors and those with an unusual form are left to the parser", "[model]") {
  onnx::ModelProto model = weighty_model();
  auto& weight = *model.mutable_graph()->mutable_initializer(0);
  weight.set_data_type(onnx::TensorProto::INT32);
  CHECK(parse(model.SerializeAsString()).graph().initializer(0).float_data_size() == 400);
  weight.set_raw_data(std::string(1600, 'r'));
  CHECK(parse(model.SerializeAsString()).graph().initializer(0).has_raw_data());
  weight.clear_float_data();
  weight.set_raw_data(std::string(1023, 'r'));
  CHECK(parse(model.SerializeAsString()).graph().initializer(0).has_raw_data());
}

TEST_CASE("parse: everything but large values comes out as it went in", "[model]") {
  onnx::ModelProto model = text_proto(
      R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1], producer_name: "p", doc_string: "d">
    g (float[N] x, bool c) => (float[N] y) <float[2] w = {1, 2}> {
      y = If(c) <then_branch = t () => (float[N] a) { k = Constant<value = int64[1] {7}>() a = local.F(x) },
                 else_branch = e () => (float[N] b) { b = Add(x, w) }>
    }
    <domain: "local", opset_import: ["" : 17]> F (i) => (o) { o = Abs(i) })");
  CHECK(parse(model.SerializeAsString()).SerializeAsString() == model.SerializeAsString());
}

TEST_CASE("parse: what is no model is refused in one line", "[model]") {
  CHECK(refusal("") == "m.onnx: is empty, expected an ONNX model");
  CHECK(refusal("This is not a model.") ==
        "m.onnx: is not an ONNX model, or damaged at byte 0 of 20");
  CHECK(refusal("version https://git-lfs.github.com/spec/v1\noid sha256:0\n") ==
        "m.onnx: is a Git LFS pointer, expected an ONNX model\n  hint: 'git lfs pull' fetches the "
        "model itself");
  CHECK(refusal(weighty_model().graph().initializer(0).SerializeAsString()) ==
        "m.onnx: is not an ONNX model, or damaged");
  CHECK(refusal("\x08\x08") == "m.onnx: is not an ONNX model: has no graph");
}

TEST_CASE("parse: a file that was cut anywhere is refused", "[model]") {
  const onnx::ModelProto model = weighty_model();
  const std::string file = model.SerializeAsString();
  // What follows the graph is the import of the opset alone.
  const std::size_t graph_end = file.size() - model.opset_import(0).ByteSizeLong() - 2;
  for (std::size_t length = 0; length < graph_end; ++length) {
    if (refusal(file.substr(0, length)).empty()) FAIL("taken with " << length << " bytes");
  }
  CHECK(refusal(file.substr(0, graph_end)).empty());
}

TEST_CASE("parse: graphs may be nested, but not without end", "[model]") {
  CHECK(refusal(nested(kMaxGraphDepth)).empty());
  CHECK(refusal(nested(kMaxGraphDepth + 1)) ==
        "m.onnx: graphs are nested too deep, expected at most 32 levels");
}
