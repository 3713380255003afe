#include "quantize/channel_input.h"

#include "catch.h"
#include "quantize/measurable.h"
#include "text_model.h"

namespace qtool {
namespace {

/// `name axis channels` of each, and `window` where it has one.
std::vector<std::string> inputs_of(const std::string& text) {
  std::vector<std::string> out;
  for (const ChannelInput& input : channel_inputs(testing::text_model(text), {})) {
    out.push_back(input.name + " " + std::to_string(input.axis) + " " +
                  std::to_string(input.channel_count) + (input.window ? " window" : ""));
  }
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("channel inputs: MatMul and Gemm sum over what their weight says", "[quantize]") {
  CHECK(inputs_of(R"(agraph (float[2,3] x) => (float[2,1] y)
      <float[3,4] v = {1,2,3,4,5,6,7,8,9,10,11,12}, float[1,4] w = {1,2,3,4}, float[2,4] a> {
        a = MatMul (x, v)
        y = Gemm <transB = 1> (a, w)
      })") == Texts{"x -1 3", "a 1 4"});
  CHECK(inputs_of(R"(agraph (float[3,2] x) => (float[2,1] y) <float[3,1] w = {1,2,3}>
                     { y = Gemm <transA = 1> (x, w) })") == Texts{"x 0 3"});
}

TEST_CASE("channel inputs: a computed weight gives none", "[quantize]") {
  CHECK(inputs_of(R"(agraph (float[2,3] x, float[3,2] w) => (float[2,2] y) { y = MatMul (x, w) })")
            .empty());
}

TEST_CASE("channel inputs: a Conv of single positions has no window, every other has",
          "[quantize]") {
  const auto conv = [](const std::string& weight, const std::string& attributes) {
    return inputs_of("agraph (float[1,2,4,4] x) => (float[1,2,M,N] y) <float" + weight +
                     "> { y = Conv " + attributes + " (x, w) }");
  };
  const std::string one = "[2,2,1,1] w = {1,2,3,4}";
  CHECK(conv(one, "") == Texts{"x 1 2"});
  CHECK(conv(one, "<strides = [1, 1], pads = [0, 0, 0, 0]>") == Texts{"x 1 2"});
  CHECK(conv(one, "<strides = [2, 2]>") == Texts{"x 1 2 window"});
  CHECK(conv(one, "<pads = [1, 1, 1, 1]>") == Texts{"x 1 2 window"});
  CHECK(conv("[2,1,1,1] w = {1,2}", "<group = 2>") == Texts{"x 1 2 window"});
  CHECK(conv("[1,2,1,2] w = {1,2,3,4}", "") == Texts{"x 1 2 window"});
}

TEST_CASE("channel inputs: a window is in one form, whichever the node has", "[quantize]") {
  const auto window = [](const std::string& attributes) {
    const auto inputs = channel_inputs(
        testing::text_model("agraph (float[1,4,8,8] x) => (float[1,2,M,N] y) <float[2,2,3,1] w = "
                            "{1,2,3,4,5,6,7,8,9,10,11,12}> { y = Conv <group = 2" +
                            attributes + "> (x, w) }"),
        {});
    REQUIRE(inputs.size() == 1);
    CHECK(inputs[0].channel_count == 4);
    return inputs[0].window.value();
  };
  const ConvWindow plain{.kernel = {3, 1},
                         .strides = {1, 1},
                         .dilations = {1, 1},
                         .pads = {0, 0, 0, 0},
                         .auto_pad = AutoPad::None,
                         .group = 2};
  CHECK(window("") == plain);
  CHECK(window(", auto_pad = \"VALID\", dilations = [1, 5]") == plain);
  ConvWindow same = plain;
  same.pads = {};
  same.auto_pad = AutoPad::SameLower;
  CHECK(window(", auto_pad = \"SAME_LOWER\"") == same);
  ConvWindow other = plain;
  other.strides = {2, 1};
  other.dilations = {3, 1};
  other.pads = {1, 2, 3, 4};
  CHECK(window(", strides = [2, 1], dilations = [3, 2], pads = [1, 2, 3, 4]") == other);
}

TEST_CASE("channel inputs: attributes that no Conv has give none", "[quantize]") {
  for (const std::string attributes :
       {"strides = [0, 1]", "strides = [1]", "pads = [1, 1]", "group = 0"}) {
    CAPTURE(attributes);
    onnx::ModelProto proto = testing::text_proto(
        "agraph (float[1,2,4,4] x) => (float[1,2,M,N] y) <float[2,2,1,1] w = "
        "{1,2,3,4}> { y = Conv <" +
        attributes + "> (x, w) }");
    onnx::TensorProto weight = proto.graph().initializer(0);
    CHECK(!channel_input(proto.graph().node(0), weight));
  }
}

TEST_CASE("channel inputs: a node is named as in messages", "[quantize]") {
  const auto inputs = channel_inputs(
      testing::text_model(R"(agraph (float[2,3] x) => (float[2,1] y) <float[3,1] w = {1,2,3}>
                             { [head] y = MatMul (x, w) })"),
      {});
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0].node == "node 'head' (MatMul)");
}

}  // namespace qtool
