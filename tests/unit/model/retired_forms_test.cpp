#include "model/retired_forms.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// A graph in the opset that withdrew or has not yet what it uses.
onnx::ModelProto in_opset(int opset, const std::string& body) {
  onnx::ModelProto model = text_proto(
      "<ir_version: 7, opset_import: [\"\" : " + std::to_string(opset) +
      "]> agraph (float[1,1,2,2] x, float h) => (float[A,B,C,D] y) <float[4] s = {1, 1, 2, 2}, "
      "float low = {0}, float high = {6}> { " +
      body + " }");
  // The text form keeps values in typed fields; a loaded model has them as bytes.
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.float_data_size() == 0) continue;
    tensor.set_raw_data(tensor.float_data().data(), tensor.float_data_size() * sizeof(float));
    tensor.clear_float_data();
  }
  replace_retired_forms(model);
  return model;
}

}  // namespace

TEST_CASE("Upsample in the opset that withdrew it is Resize", "[model]") {
  CHECK(in_opset(10, "y = Upsample (x, s)").graph().node(0).op_type() == "Resize");
  CHECK(in_opset(9, "y = Upsample (x, s)").graph().node(0).op_type() == "Upsample");
}

TEST_CASE("constant bounds of a Clip are attributes before opset 11", "[model]") {
  const auto clip = in_opset(6, "y = Clip (x, low, high)").graph().node(0);
  CHECK(clip.input_size() == 1);
  REQUIRE(clip.attribute_size() == 2);
  CHECK(clip.attribute(0).name() == "min");
  CHECK(clip.attribute(1).f() == 6);
  CHECK(in_opset(6, "y = Clip (x, low, h)").graph().node(0).input_size() == 3);
  CHECK(in_opset(11, "y = Clip (x, low, high)").graph().node(0).input_size() == 3);
}
