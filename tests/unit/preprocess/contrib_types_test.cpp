#include "preprocess/contrib_types.h"

#include "catch.h"
#include "model/graph_view.h"
#include "preprocess/shape_inference.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;
using Shape = std::vector<std::int64_t>;

namespace {

/// What inference says of the value `y` that `body` makes.
std::pair<ElementType, std::optional<Shape>> inferred(const std::string& inputs,
                                                      const std::string& body) {
  Model model =
      text_model("<ir_version: 10, opset_import: [\"\" : 21, \"com.microsoft\" : 1]> agraph (" +
                 inputs + ") => (out) { " + body + " out = Identity (y) }");
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  const GraphView view(model.graph());
  return {view.type_of("y"), view.shape_of("y")};
}

struct Row {
  std::string inputs, body;
  ElementType type;
  std::optional<Shape> shape;
};

}  // namespace

TEST_CASE("contrib operators tell types and shapes of their outputs", "[preprocess]") {
  const std::string ms = "com.microsoft.";
  const Row rows[] = {
      {"float16[N,4] x, float16[4] b", "y = " + ms + "BiasGelu (x, b)", ElementType::Float16,
       Shape{-1, 4}},
      {"float[2,3,5,5] x, float[4,3,3,3] w",
       "y = " + ms + "FusedConv <activation = \"Relu\"> (x, w)", ElementType::Float,
       Shape{2, 4, 3, 3}},
      {"float[2,3] x, float[3,4] w, float[4] b",
       "y = " + ms + "FusedGemm <activation = \"Relu\"> (x, w, b)", ElementType::Float,
       Shape{2, 4}},
      {"float[5,2,3] x, float[5,4,3] w", "y = " + ms + "FusedMatMul <transB = 1> (x, w)",
       ElementType::Float, Shape{5, 2, 4}},
      {"float[5,2,3] x, float[3,4] w", "y = " + ms + "FusedMatMul <alpha = 0.5> (x, w)",
       ElementType::Float, Shape{5, 2, 4}},
      {"float[2,7,8] x, float[8,24] w, float[24] b",
       "y = " + ms + "Attention <num_heads = 2> (x, w, b)", ElementType::Float, Shape{2, 7, 8}},
      {"float[2,7,8] x, float[2,7,8] s, float[8] g",
       "y, m, v, sum = " + ms + "SkipLayerNormalization (x, s, g)", ElementType::Float,
       Shape{2, 7, 8}},
      {"float[2,7,8] x, float[2,7,8] s, float[8] g",
       "a, m, v, y = " + ms + "SkipLayerNormalization (x, s, g)", ElementType::Float,
       Shape{2, 7, 8}},
      {"int32[2,7] i, int32[2,7] s, float[9,8] w, float[9,8] p, float[2,8] t, float[8] g, float[8] "
       "b",
       "y, m = " + ms + "EmbedLayerNormalization (i, s, w, p, t, g, b)", ElementType::Float,
       Shape{2, 7, 8}},
      {"int32[2,7] i, int32[2,7] s, float[9,8] w, float[9,8] p, float[2,8] t, float[8] g, float[8] "
       "b",
       "e, y = " + ms + "EmbedLayerNormalization (i, s, w, p, t, g, b)", ElementType::Int32,
       std::nullopt},
      {"float[2,7,16] x, uint8[8,1,8] w, float[8] s",
       "y = " + ms + "MatMulNBits <K = 16, N = 8, bits = 4, block_size = 16> (x, w, s)",
       ElementType::Float, Shape{2, 7, 8}},
      {"uint8[2,3] a, float s, uint8 z, uint8[3] b",
       "y = " + ms + "QLinearAdd (a, s, z, b, s, z, s, z)", ElementType::UInt8, Shape{2, 3}},
      {"float[2,3] x, float s, uint16 z", "y = " + ms + "QuantizeLinear (x, s, z)",
       ElementType::UInt16, Shape{2, 3}},
      {"uint16[2,3] x, float s, uint16 z", "y = " + ms + "DequantizeLinear (x, s, z)",
       ElementType::Float, Shape{2, 3}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.body);
    const auto [type, shape] = inferred(row.inputs, row.body);
    CHECK(type == row.type);
    CHECK(shape == row.shape);
  }
}
