#include "model/repair.h"

#include <onnx/defs/schema.h>

#include "catch.h"
#include "error_text.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::text_proto;

namespace {

constexpr const char* kNeg = "g (float[N] x) => (float[N] y) { y = Neg(x) }";

onnx::ModelProto repaired(onnx::ModelProto model) {
  repair_model(model, "m.onnx");
  return model;
}

std::string refusal(onnx::ModelProto model) {
  return error_text([&] { repair_model(model, "m.onnx"); });
}

void import(onnx::ModelProto& model, const std::string& domain, std::int64_t version) {
  auto& added = *model.add_opset_import();
  added.set_domain(domain);
  added.set_version(version);
}

}  // namespace

TEST_CASE("repair: a sound model stays byte for byte", "[model]") {
  onnx::ModelProto model = text_proto(kNeg);
  model.mutable_graph()->mutable_node(0)->set_domain("");
  CHECK(repaired(model).SerializeAsString() == model.SerializeAsString());
}

TEST_CASE("repair: the default domain has one name", "[model]") {
  onnx::ModelProto model = text_proto(kNeg);
  model.mutable_opset_import(0)->set_domain("ai.onnx");
  model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  import(model, "", 17);
  const onnx::ModelProto after = repaired(model);
  REQUIRE(after.opset_import_size() == 1);
  CHECK(after.opset_import(0).domain().empty());
  CHECK(after.graph().node(0).domain().empty());
}

TEST_CASE("repair: ONNX Runtime's own domains need no import", "[model]") {
  onnx::ModelProto model = text_proto(kNeg);
  model.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  const onnx::ModelProto after = repaired(model);
  REQUIRE(after.opset_import_size() == 2);
  CHECK(after.opset_import(1).domain() == "com.microsoft");
  CHECK(after.opset_import(1).version() == 1);
}

TEST_CASE("repair: initializers of an old model are no longer inputs", "[model]") {
  onnx::ModelProto model =
      text_proto("g (float[1] x, float[1] w) => (float[1] y) <float[1] w = {1}> { y = Add(x, w) }");
  CHECK(repaired(model).graph().input_size() == 2);
  model.set_ir_version(3);
  const onnx::ModelProto after = repaired(model);
  CHECK(after.ir_version() == 4);
  REQUIRE(after.graph().input_size() == 1);
  CHECK(after.graph().input(0).name() == "x");
}

TEST_CASE("repair: a model from before operator sets has the first", "[model]") {
  onnx::ModelProto model = text_proto(kNeg);
  model.set_ir_version(1);
  model.clear_opset_import();
  REQUIRE(repaired(model).opset_import_size() == 1);
  CHECK(repaired(model).opset_import(0).version() == 1);
}

TEST_CASE("repair: names that must be there or differ are made so", "[model]") {
  onnx::ModelProto model = text_proto(
      "g (float[N] x) => (float[N] y) { [n] a = Neg(x) [n] b = Neg(a) [n_1] y = Neg(b) }");
  model.mutable_graph()->clear_name();
  const onnx::ModelProto after = repaired(model);
  CHECK(after.graph().name() == "graph");
  CHECK(after.graph().node(0).name() == "n");
  CHECK(after.graph().node(1).name() == "n_2");
  CHECK(after.graph().node(2).name() == "n_1");
}

TEST_CASE("repair: value_info of a type that is none goes", "[model]") {
  onnx::ModelProto model = text_proto(
      "g (float[N] x) => (float[N] y) <float[N] t, int64[N] u> { t = Neg(x) y = Neg(t) }");
  model.mutable_graph()
      ->mutable_value_info(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->set_elem_type(0);
  const onnx::ModelProto after = repaired(model);
  REQUIRE(after.graph().value_info_size() == 1);
  CHECK(after.graph().value_info(0).name() == "u");
}

TEST_CASE("repair: of metadata with one key the last entry counts", "[model]") {
  onnx::ModelProto model = text_proto(kNeg);
  for (const char* value : {"first", "second", "third"}) {
    auto& entry = *model.add_metadata_props();
    entry.set_key(value == std::string("second") ? "other" : "key");
    entry.set_value(value);
  }
  const onnx::ModelProto after = repaired(model);
  REQUIRE(after.metadata_props_size() == 2);
  CHECK(after.metadata_props(0).value() == "second");
  CHECK(after.metadata_props(1).value() == "third");
}

TEST_CASE("repair: versions that are missing, contradictory or unknown are refused", "[model]") {
  const std::string newest_ir = std::to_string(onnx::Version::IR_VERSION);
  const std::string newest_opset =
      std::to_string(onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second);
  onnx::ModelProto model = text_proto(kNeg);
  model.set_ir_version(0);
  CHECK(refusal(model) == "m.onnx: ir_version 0, expected 1 to " + newest_ir);
  model.set_ir_version(1000);
  CHECK(refusal(model) == "m.onnx: ir_version 1000, expected 1 to " + newest_ir);
  model.clear_ir_version();
  CHECK(refusal(model) == "m.onnx: no ir_version, expected 1 to " + newest_ir);
  model.set_ir_version(8);
  model.mutable_opset_import(0)->set_version(999);
  CHECK(refusal(model) == "m.onnx: opset version 999 is unknown, expected 1 to " + newest_opset);
  model.mutable_opset_import(0)->set_version(-17);
  CHECK(refusal(model) == "m.onnx: opset version -17 is unknown, expected 1 to " + newest_opset);
  model.mutable_opset_import(0)->set_domain("ai.onnx");
  CHECK(refusal(model) == "m.onnx: opset version -17 is unknown, expected 1 to " + newest_opset);
  model.mutable_opset_import(0)->set_version(17);
  import(model, "ai.onnx", 13);
  CHECK(refusal(model) ==
        "m.onnx: opset_import of domain '' is there twice, with versions 17 and 13");
  model.clear_opset_import();
  CHECK(refusal(model) == "m.onnx: has no opset_import, expected at least one");
  import(model, "ai.onnx.ml", 99);
  CHECK(refusal(model).starts_with(
      "m.onnx: opset version 99 of domain 'ai.onnx.ml' is unknown, expected 1 to "));
}
