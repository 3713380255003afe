#include "model/ir_version.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::text_model;

TEST_CASE("ir version: each opset has the one that it was released with", "[model]") {
  CHECK(ir_version_of(8) == 3);
  CHECK(ir_version_of(13) == 7);
  CHECK(ir_version_of(17) == 8);
  CHECK(ir_version_of(21) == 10);
  CHECK(ir_version_of(25) == 13);
}

TEST_CASE("ir version: rises to what the types of tensors need", "[model]") {
  const auto with = [](ElementType type) {
    Model model = text_model(R"(<ir_version: 8, opset_import: ["" : 17]>
      agraph (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) })");
    model.graph().mutable_initializer(0)->set_data_type(static_cast<int>(type));
    raise_ir_version(model);
    return model.proto().ir_version();
  };
  CHECK(with(ElementType::Int8) == 8);
  CHECK(with(ElementType::UInt16) == 8);
  CHECK(with(ElementType::Float8E4M3FN) == 9);
  CHECK(with(ElementType::Int4) == 10);
  CHECK(with(ElementType::UInt4) == 10);
  CHECK(with(ElementType::Float4E2M1) == 11);
  CHECK(with(ElementType::UInt2) == 13);
}

TEST_CASE("ir version: tensors of branches count, and a later version stays", "[model]") {
  Model model = text_model(R"(<ir_version: 8, opset_import: ["" : 17]>
    agraph (float[2] x, bool p) => (float[2] y) {
      y = If (p) <
        then_branch = yes () => (float[2] t) <float[2] w = {1, 2}> { t = Add (x, w) },
        else_branch = no () => (float[2] e) { e = Neg (x) }
      >
    })");
  auto& branch = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  branch.mutable_initializer(0)->set_data_type(static_cast<int>(ElementType::Int4));
  raise_ir_version(model);
  CHECK(model.proto().ir_version() == 10);
  model.proto().set_ir_version(12);
  raise_ir_version(model);
  CHECK(model.proto().ir_version() == 12);
}
