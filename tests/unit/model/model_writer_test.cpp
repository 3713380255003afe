#include "model/model_writer.h"

#include <string>

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::text_proto;

namespace {

std::string written(const onnx::ModelProto& model, const ModelWriter::ChooseStorage& choose) {
  const ModelWriter writer(model, choose);
  std::string out;
  writer.write([&](std::string_view text) { out += text; });
  CHECK(out.size() == writer.size());
  return out;
}

TensorStorage as_is(const onnx::TensorProto&, const TensorSite&) { return {}; }

/// Tensors in every place that can hold one, and a field that no version of ONNX has.
onnx::ModelProto rich_model() {
  onnx::ModelProto model = text_proto(R"(
    <ir_version: 8, opset_import: ["" : 17, "local" : 1], producer_name: "p", model_version: 3, doc_string: "d">
    g (float[N] x, bool c) => (float[N] y) <float[2] w = {1, 2}, float[N] t> {
      [k] k = Constant<value = int64[1] {7}>()
      t = Add(x, w)
      y = If(c) <then_branch = th () => (float[N] a) <float[1] v = {3}> { a = Add(t, v) },
                 else_branch = el () => (float[N] b) { b = local.F<alpha = 0.5>(t) }>
    }
    <domain: "local", opset_import: ["" : 17], doc_string: "f"> F <alpha> (i) => (o) {
      m = Constant<value = float[1] {7}>() o = Mul(i, m)
    })");
  auto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.set_raw_data(std::string(8, 'w'));
  tensor.clear_float_data();
  model.mutable_graph()
      ->GetReflection()
      ->MutableUnknownFields(model.mutable_graph())
      ->AddVarint(1000, 5);
  tensor.GetReflection()->MutableUnknownFields(&tensor)->AddLengthDelimited(1001, "later");
  return model;
}

}  // namespace

TEST_CASE("model writer: gives protobuf's own bytes", "[model]") {
  const onnx::ModelProto model = rich_model();
  CHECK(written(model, as_is) == model.SerializeAsString());
}

TEST_CASE("model writer: values from elsewhere become raw_data", "[model]") {
  onnx::ModelProto model = rich_model();
  const std::string values(100'000, 'v');
  const auto choose = [&](const onnx::TensorProto& tensor, const TensorSite&) -> TensorStorage {
    if (tensor.name() != "w") return {};
    return {.kind = TensorStorage::Kind::Inline,
            .values = std::as_bytes(std::span(values)),
            .location = {}};
  };
  onnx::ModelProto read;
  REQUIRE(read.ParseFromString(written(model, choose)));
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(values);
  CHECK(read.SerializeAsString() == model.SerializeAsString());
}

TEST_CASE("model writer: external values leave their place behind", "[model]") {
  const onnx::ModelProto model = rich_model();
  const std::string values(8, 'v');
  const auto choose = [&](const onnx::TensorProto& tensor, const TensorSite&) -> TensorStorage {
    if (tensor.name() != "w") return {};
    return {.kind = TensorStorage::Kind::External,
            .values = std::as_bytes(std::span(values)),
            .location = "f",
            .offset = 64};
  };
  onnx::ModelProto read;
  REQUIRE(read.ParseFromString(written(model, choose)));
  const auto& tensor = read.graph().initializer(0);
  CHECK(tensor.name() == "w");
  CHECK(tensor.dims(0) == 2);
  CHECK_FALSE(tensor.has_raw_data());
  CHECK(tensor.data_location() == onnx::TensorProto::EXTERNAL);
  CHECK(tensor.external_data(0).value() == "f");
  CHECK(tensor.external_data(1).value() == "64");
  CHECK(tensor.external_data(2).value() == "8");
}

TEST_CASE("model writer: says where each tensor stands", "[model]") {
  std::string sites;
  const auto choose = [&](const onnx::TensorProto& tensor,
                          const TensorSite& site) -> TensorStorage {
    sites += tensor.name() + "/" + (site.node != nullptr ? site.node->op_type() : "initializer") +
             "/" + std::to_string(site.graph_depth) + (site.is_in_function ? "/function " : " ");
    return {};
  };
  written(rich_model(), choose);
  CHECK(sites == "/Constant/1 v/initializer/2 w/initializer/1 /Constant/0/function ");
}
