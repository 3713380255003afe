#include <random>

#include "catch.h"
#include "graph_text.h"
#include "preprocess/passes.h"
#include "preprocess/preprocess.h"
#include "preprocess/shape_inference.h"
#include "run_model.h"
#include "run_pass.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr double kTolerance = 2e-6;

using Shape = std::vector<std::int64_t>;

onnx::TensorProto random_tensor(const std::string& name, const Shape& shape, float low,
                                float high) {
  std::mt19937 random(static_cast<unsigned>(name.size() + name[0]));
  std::size_t count = 1;
  for (const auto size : shape) count *= static_cast<std::size_t>(size);
  std::vector<float> values(count);
  for (float& value : values) value = std::uniform_real_distribution<float>(low, high)(random);
  return make_tensor(name, ElementType::Float, shape, std::as_bytes(std::span(values)));
}

/// A model whose graph reads weights `w` and `b` and the statistics of `channels` channels: `s`,
/// `o`, `m`, `v`.
Model with_weights(const std::string& inputs, const std::string& body, const Shape& w,
                   const Shape& b, std::int64_t channels, const std::string& outputs = "y") {
  const std::string text =
      "agraph (" + inputs +
      ", float[1] w, float[1] b, float[1] s, float[1] o, float[1] m, float[1] v) => (" + outputs +
      ") { " + body + " }";
  onnx::ModelProto proto = text_proto(text);
  auto& graph = *proto.mutable_graph();
  graph.mutable_input()->DeleteSubrange(graph.input_size() - 6, 6);
  *graph.add_initializer() = random_tensor("w", w, -1, 1);
  *graph.add_initializer() = random_tensor("b", b, -1, 1);
  *graph.add_initializer() = random_tensor("s", {channels}, 0.5F, 2);
  *graph.add_initializer() = random_tensor("o", {channels}, -1, 1);
  *graph.add_initializer() = random_tensor("m", {channels}, -1, 1);
  *graph.add_initializer() = random_tensor("v", {channels}, 0.1F, 3);
  return Model(std::move(proto));
}

/// The model after folding; its outputs are checked against those before.
Model folded(const Model& before) {
  Model model = before.clone();
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  fold_affine(model);
  remove_dead_nodes(model);
  CHECK(difference(before, model) <= kTolerance);
  return model;
}

}  // namespace

TEST_CASE("a BatchNormalization alone is folded where nothing else is", "[preprocess]") {
  const Model before = with_weights("float[N,3,6,6] x",
                                    "c = Conv (x, w, b) n = BatchNormalization (c, s, o, m, v) "
                                    "d = Conv (x, w) y = Mul (d, n)",
                                    {4, 3, 3, 3}, {4}, 4);
  Model model = before.clone();
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  CHECK(fold_batch_normalization(model));
  CHECK(op_types(model.graph()) == "Conv Conv Mul");
  CHECK(difference(before, model) <= kTolerance);
  CHECK_FALSE(fold_batch_normalization(model));
}

TEST_CASE("a normalization behind a convolution goes into its weight and bias", "[preprocess]") {
  const Model model = folded(
      with_weights("float[N,3,6,6] x", "c = Conv (x, w, b) y = BatchNormalization (c, s, o, m, v)",
                   {4, 3, 3, 3}, {4}, 4));
  CHECK(op_types(model.graph()) == "Conv");
  CHECK(model.graph().node(0).output(0) == "y");
  CHECK(initializer_names(model.graph()) == "w b");
}

TEST_CASE("a convolution without bias gets one, under a name of its own", "[preprocess]") {
  const Model model = folded(with_weights(
      "float[N,4,6,6] x",
      "c = Conv <group = 2> (x, w) y = BatchNormalization <epsilon = 0.01> (c, s, o, m, v)",
      {6, 2, 3, 3}, {1}, 6));
  CHECK(op_types(model.graph()) == "Conv");
  CHECK(initializer_names(model.graph()) == "w c_bias");
}

TEST_CASE("each group of a transposed convolution is scaled by its own channels", "[preprocess]") {
  const Model model =
      folded(with_weights("float[N,6,4,4] x",
                          "c = ConvTranspose <group = 3, strides = [2, 2]> (x, w, b) "
                          "y = BatchNormalization (c, s, o, m, v)",
                          {6, 2, 3, 3}, {6}, 6));
  CHECK(op_types(model.graph()) == "ConvTranspose");
}

TEST_CASE("alpha of a Gemm stays and beta goes into the bias", "[preprocess]") {
  const Model model =
      folded(with_weights("float[N,3] x",
                          "c = Gemm <alpha = 0.5, beta = 3.0, transB = 1> (x, w, b) "
                          "y = BatchNormalization (c, s, o, m, v)",
                          {5, 3}, {5}, 5));
  CHECK(op_types(model.graph()) == "Gemm");
  CHECK(float_attribute(model.graph().node(0), "alpha", 1) == 0.5F);
  CHECK(find_attribute(model.graph().node(0), "beta") == nullptr);
}

TEST_CASE("one bias for all channels of a Gemm becomes one for each", "[preprocess]") {
  const Model model = folded(
      with_weights("float[N,3] x", "c = Gemm (x, w, b) y = BatchNormalization (c, s, o, m, v)",
                   {3, 5}, {1, 1}, 5));
  CHECK(op_types(model.graph()) == "Gemm");
}

TEST_CASE("a normalization behind MatMul becomes the Add of a bias", "[preprocess]") {
  const Model model = folded(with_weights(
      "float[N,3] x", "c = MatMul (x, w) y = BatchNormalization (c, s, o, m, v)", {3, 5}, {1}, 5));
  CHECK(op_types(model.graph()) == "MatMul Add");
}

TEST_CASE("a normalization behind MatMul and Add goes into both", "[preprocess]") {
  const Model model = folded(with_weights(
      "float[N,3] x", "c = MatMul (x, w) d = Add (b, c) y = BatchNormalization (d, s, o, m, v)",
      {3, 5}, {5}, 5));
  CHECK(op_types(model.graph()) == "MatMul Add");
  CHECK(initializer_names(model.graph()) == "w b");
}

TEST_CASE("normalizations in a row all go", "[preprocess]") {
  const Model model =
      folded(with_weights("float[N,3,6,6] x",
                          "c = Conv (x, w, b) d = BatchNormalization (c, s, o, m, v) "
                          "y = BatchNormalization (d, s, o, m, v)",
                          {4, 3, 1, 1}, {4}, 4));
  CHECK(op_types(model.graph()) == "Conv");
}

TEST_CASE("a weight that another node reads is copied, not changed", "[preprocess]") {
  const Model model = folded(
      with_weights("float[N,3,6,6] x",
                   "c = Conv (x, w, b) y = BatchNormalization (c, s, o, m, v) z = Conv (x, w, b)",
                   {4, 3, 3, 3}, {4}, 4, "y, z"));
  CHECK(op_types(model.graph()) == "Conv Conv");
  CHECK(initializer_names(model.graph()) == "w b c_weight c_bias");
}

TEST_CASE("a normalization stays where folding would change another value", "[preprocess]") {
  const std::string bn = "BatchNormalization (c, s, o, m, v) ";
  const Shape w = {4, 3, 3, 3};
  const auto ops = [&](const std::string& body, const std::string& outputs) {
    return op_types(folded(with_weights("float[N,3,6,6] x", body, w, {4}, 4, outputs)).graph());
  };
  CHECK(ops("c = Conv (x, w, b) y = " + bn, "y, c") == "Conv BatchNormalization");
  CHECK(ops("c = Conv (x, w, b) y = " + bn + "z = Relu (c)", "y, z") ==
        "Conv BatchNormalization Relu");
  CHECK(ops("d = Conv (x, w, b) c = Relu (d) y = " + bn, "y") == "Conv Relu BatchNormalization");
}

TEST_CASE("a normalization in training form or with a variance of nothing stays", "[preprocess]") {
  Model training = with_weights(
      "float[N,3,6,6] x",
      "c = Conv (x, w, b) y, p, q = BatchNormalization <training_mode = 1> (c, s, o, m, v)",
      {4, 3, 3, 3}, {4}, 4);
  fold_affine(training);
  CHECK(op_types(training.graph()) == "Conv BatchNormalization");

  Model broken =
      with_weights("float[N,3,6,6] x", "c = Conv (x, w, b) y = BatchNormalization (c, s, o, m, v)",
                   {4, 3, 3, 3}, {4}, 4);
  for (auto& tensor : *broken.graph().mutable_initializer()) {
    if (tensor.name() == "v") tensor = random_tensor("v", {4}, -2, -1);
  }
  fold_affine(broken);
  CHECK(op_types(broken.graph()) == "Conv BatchNormalization");
}

TEST_CASE("the axis of channels is not the last of a stack of matrices, so that one stays",
          "[preprocess]") {
  const Model model = folded(
      with_weights("float[2,5,3] x", "c = MatMul (x, w) y = BatchNormalization (c, s, o, m, v)",
                   {3, 5}, {1}, 5));
  CHECK(op_types(model.graph()) == "MatMul BatchNormalization");
}

TEST_CASE("factors and addends behind a normalization that stays go into it", "[preprocess]") {
  const Model model = folded(with_weights("float[N,4,6,6] x, float[N,4,6,6] k",
                                          "c = Concat <axis = 1> (x, k) "
                                          "d = BatchNormalization (c, s, o, m, v) e = Mul (w, d) "
                                          "f = Add (e, b) g = Div (f, b) y = Sub (w, g)",
                                          {8, 1, 1}, {1, 8, 1, 1}, 8));
  CHECK(op_types(model.graph()) == "Concat BatchNormalization");
  CHECK(model.graph().node(1).output(0) == "y");
  CHECK(initializer_names(model.graph()) == "s o m v");
}

TEST_CASE("two normalizations of one parameter set become one, with parameters of its own",
          "[preprocess]") {
  const Model model = folded(
      with_weights("float[N,4] x",
                   "c = BatchNormalization (x, s, o, m, v) y = BatchNormalization (c, s, o, m, v) "
                   "z = BatchNormalization (x, s, o, m, v)",
                   {1}, {1}, 4, "y, z"));
  CHECK(op_types(model.graph()) == "BatchNormalization BatchNormalization");
  CHECK(initializer_names(model.graph()) == "s o m v c_scale c_bias");
}

TEST_CASE("behind a normalization of unknown rank single values are folded", "[preprocess]") {
  const auto ops = [](const Shape& w) {
    Model model = with_weights("float[N,4,6,6] x",
                               "c = BatchNormalization (x, s, o, m, v) y = Mul (c, w)", w, {1}, 4);
    model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    fold_affine(model);
    return op_types(model.graph());
  };
  CHECK(ops({1}) == "BatchNormalization");
  CHECK(ops({}) == "BatchNormalization");
  CHECK(ops({1, 1, 1, 1}) == "BatchNormalization Mul");
  CHECK(ops({4, 1, 1}) == "BatchNormalization Mul");
}

TEST_CASE("what is behind a normalization stays where folding would change another value",
          "[preprocess]") {
  const auto ops = [](const std::string& behind, const Shape& w, const std::string& outputs = "y") {
    return op_types(
        folded(with_weights("float[N,4,4,6] x", "c = BatchNormalization (x, s, o, m, v) " + behind,
                            w, {1}, 4, outputs))
            .graph());
  };
  CHECK(ops("y = Mul (c, w)", {4, 1, 1}, "y, c") == "BatchNormalization Mul");
  CHECK(ops("y = Mul (c, w) z = Relu (c)", {4, 1, 1}, "y, z") == "BatchNormalization Mul Relu");
  CHECK(ops("y = Mul (c, c)", {1}) == "BatchNormalization Mul");
  CHECK(ops("y = Div (w, c)", {1}) == "BatchNormalization Div");
  CHECK(ops("y = Mul (c, w)", {4, 1}) == "BatchNormalization Mul");
  CHECK(ops("y = Mul (c, w)", {4, 4, 1}) == "BatchNormalization Mul");
  CHECK(ops("y = Mul (c, w)", {1, 1, 1, 1, 1}) == "BatchNormalization Mul");
}

TEST_CASE("a normalization in training form takes nothing on", "[preprocess]") {
  Model model = with_weights("float[N,4,6,6] x",
                             "c, p, q = BatchNormalization <training_mode = 1> (x, s, o, m, v) "
                             "y = Mul (c, w)",
                             {1}, {1}, 4);
  fold_affine(model);
  CHECK(op_types(model.graph()) == "BatchNormalization Mul");
}

TEST_CASE("normalizations in branches are folded", "[preprocess]") {
  Model before = text_model(R"(agraph (float[1,1,2,2] x, bool p) => (float[1,1,2,2] y) {
    y = If (p) <
      then_branch = yes () => (float[1,1,2,2] t)
        <float[1,1,1,1] w = {2}, float[1] s = {3}, float[1] o = {0.5}, float[1] m = {0.25}, float[1] v = {2}> {
          c = Conv (x, w)
          t = BatchNormalization (c, s, o, m, v)
      },
      else_branch = no () => (float[1,1,2,2] e) { e = Neg (x) }
    >
  })");
  const Model model = folded(before);
  CHECK(difference(before, model, 2) <= kTolerance);
  CHECK(op_types(subgraph(model.graph(), 0, "then_branch")) == "Conv");
}

namespace {

/// Operators left of a layer and `body` behind it, which reads `c`; constants `k` of one value, `p`
/// of one per channel, `q` the other way round.
std::string left(const std::string& layer, const std::string& body) {
  return left_by(
      "agraph (float[2,3,6,6] x, float[5,3] m, float[2,5,3] r) => (float[A,B,C,D] y) "
      "<float[1] k = {2}, float[2,1,1] p = {0.5, -3}, float[1,2,1,1] o = {4, 5}, "
      "float[2] n = {3, 7}, float[1,1,4] q = {1, 2, 3, 4}, "
      "float[2,3,1,1] w = {1, 2, 3, 4, 5, 6}, float[2] b = {1, -1}, "
      "float[3,2] u = {1, 2, 3, 4, 5, 6}> { c = " +
          layer + " " + body + " }",
      fold_affine);
}

}  // namespace

TEST_CASE("numbers and channel constants behind a layer go into it", "[preprocess]") {
  CHECK(left("Conv (x, w)", "y = Mul (k, c)") == "Conv");
  CHECK(left("Conv (x, w, b)", "d = Mul (c, p) e = Add (o, d) f = Sub (e, k) y = Div (f, k)") ==
        "Conv");
  CHECK(left("Conv (x, w, b)", "y = Sub (p, c)") == "Conv");
  CHECK(left("Gemm <beta = 2.0> (m, u, b)", "d = Mul (c, n) y = Add (d, k)") == "Gemm");
  CHECK(left("MatMul (r, u)", "d = Mul (c, k) e = Add (d, n) y = Mul (n, e)") == "MatMul Add");
}

TEST_CASE("what is not the same for all of a channel stays", "[preprocess]") {
  CHECK(left("Conv (x, w)", "y = Div (k, c)") == "Conv Div");
  CHECK(left("Conv <strides = [2, 2], pads = [1, 0, 1, 1]> (x, w)", "y = Mul (c, q)") ==
        "Conv Mul");
  CHECK(left("Conv <pads = [0, 0, 0, 0], strides = [2, 2]> (x, w)", "y = Mul (c, c)") ==
        "Conv Mul");
}
