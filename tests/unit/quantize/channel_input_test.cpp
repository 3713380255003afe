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
                  std::to_string(input.channel_count) + (input.has_window ? " window" : ""));
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

TEST_CASE("channel inputs: a node is named as in messages", "[quantize]") {
  const auto inputs = channel_inputs(
      testing::text_model(R"(agraph (float[2,3] x) => (float[2,1] y) <float[3,1] w = {1,2,3}>
                             { [head] y = MatMul (x, w) })"),
      {});
  REQUIRE(inputs.size() == 1);
  CHECK(inputs[0].node == "node 'head' (MatMul)");
}

}  // namespace qtool
