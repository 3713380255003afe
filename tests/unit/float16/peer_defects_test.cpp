// What onnxconverter-common and onnxruntime.transformers.float16 make a wrong model of.
#include <set>

#include "catch.h"
#include "converted.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Float16Config blocking(const std::string& op_type) {
  Float16Config config;
  config.op_block_list = {op_type};
  return config;
}

void check_near(const std::string& text, const Float16Config& config = {}) {
  const Model model = converted(text, config);
  CHECK(difference(text_model(text), model) < kNear);
}

}  // namespace

TEST_CASE("float16: weights beyond 10000 keep their values, beyond 65504 that one", "[float16]") {
  const Model model = converted(
      "agraph (float[3] x) => (float[3] y) <float[3] w = {20000, 70000, -1e9}> { y = Add (x, w) }");
  CHECK(to_float32(model.tensor(model.graph().initializer(0))) ==
        std::vector<float>{20000, 65504, -65504});
}

TEST_CASE("float16: an initializer that blocked and other nodes read is there in both types",
          "[float16]") {
  const std::string text =
      "agraph (float[2,2] x) => (float[2,2] y, float[2,2] z) <float[2,2] w = {1, 2, 3, 0.1}> "
      "{ y = MatMul (x, w) z = Mul (x, w) }";
  check_near(text, blocking("Mul"));
  CHECK(converted(text, blocking("Mul")).graph().initializer_size() == 2);
}

TEST_CASE("float16: a Cast to float32 inside the graph is retargeted", "[float16]") {
  check_near(
      "agraph (float[2] x, int64[2] i) => (float[2] y) { c = Cast <to: int = 1> (i) y = Add (x, c) "
      "}");
}

TEST_CASE("float16: what dtype attributes make is cast for those that read it", "[float16]") {
  for (const std::string maker :
       {"EyeLike <dtype: int = 1> (i)", "RandomNormal <shape = [2, 2]> ()", "RandomUniformLike (x)",
        "RandomNormalLike <dtype: int = 1> (i)", "Bernoulli (x)"}) {
    INFO(maker);
    const std::string text =
        "agraph (float[2,2] x, int64[2,2] i) => (float[2,2] y) <float zero = {0}> { r = " + maker +
        " n = Mul (r, zero) y = Add (x, n) }";
    if (maker.starts_with("Bernoulli")) {
      CHECK_NOTHROW(converted(text));
      continue;
    }
    check_near(text);
  }
}

TEST_CASE("float16: an output that is read inside too keeps its name and type", "[float16]") {
  check_near("agraph (float[2] x) => (float[2] y, float[2] z) { y = Relu (x) z = Exp (y) }");
}

TEST_CASE(
    "float16: the scales of Resize stay float32 in every opset, also where nothing is "
    "blocked",
    "[float16]") {
  Float16Config config;
  config.op_block_list.emplace();
  for (const std::string opset : {"10", "11", "13", "18", "19"}) {
    INFO(opset);
    const std::string roi = opset == "10" ? "" : "roi, ";
    check_near(
        "<ir_version: 8, opset_import: [\"\" : " + opset +
            "]> agraph (float[1,1,2,2] x) => (float[1,1,3,3] y) <float[0] roi = {}, float[4] "
            "scales = {1, 1, 1.5, 1.5}> { y = Resize <mode: string = \"nearest\"> (x, " +
            roi + "scales) }",
        config);
  }
}

TEST_CASE("float16: nodes without names give casts with names that differ", "[float16]") {
  const Model model = converted(
      "agraph (float[2] x) => (float[2] y, float[2] z) { a = Mul (x, x) y = Relu (a) z = Exp (a) }",
      blocking("Mul"));
  std::set<std::string> names;
  for (const auto& node : model.graph().node())
    CHECK((node.name().empty() || names.insert(node.name()).second));
  CHECK(names.size() == 3);
}

TEST_CASE("float16: a Constant node with value_float or value_floats is converted", "[float16]") {
  check_near(
      "agraph (float[2] x) => (float[2] y) { a = Constant <value_float: float = 1.5> () "
      "b = Constant <value_floats = [1.0, 2.0]> () c = Add (x, a) y = Mul (c, b) }");
}

TEST_CASE("float16: branches that capture outer values agree on their types", "[float16]") {
  check_near(
      "agraph (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 2}> { a = Relu (x) y = If (c) "
      "<then_branch = t () => (float[2] p) { p = Add (a, w) }, else_branch = e () => (float[2] q) "
      "{ q = Identity (x) }> }");
}

TEST_CASE("float16: a branch may give what stands outside of it, in the type that is wanted",
          "[float16]") {
  check_near(
      "agraph (float[2] x, bool c) => (float[2] y) { a = Exp (x) y = If (c) <then_branch = t () => "
      "(float[2] p) { p = Identity (a) }, else_branch = e () => (float[2] q) <float[2] q = {1, 2}> "
      "{ }> }",
      blocking("Exp"));
}

TEST_CASE("float16: carried values of a Loop and weights in its body have one type", "[float16]") {
  check_near(
      "agraph (float[2] x) => (float[2] y, float[N,2] ys) <int64 n = {3}, bool c = {1}> { y, ys = "
      "Loop (n, c, x) <body = b (int64 i, bool d, float[2] h) => (bool e, float[2] o, float[2] s) "
      "<float[2] w = {0.5, 1.25}> { e = Identity (d) f = Cast <to: int = 1> (i) g = Mul (h, w) "
      "o = Add (g, f) s = Sigmoid (o) }> }");
}

TEST_CASE("float16: a model that has float16 already is converted beside it", "[float16]") {
  check_near(
      "agraph (float[2] x) => (float[2] y) <float16[2] w = {15360, 16384}> { h = Cast <to: int = "
      "10> (x) a = Mul (h, w) f = Cast <to: int = 1> (a) y = Sigmoid (f) }");
}

TEST_CASE("float16: converting twice is converting once", "[float16]") {
  const std::string text =
      "agraph (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Mul (x, w) b = Exp (a) "
      "y = Relu (b) }";
  const Model once = converted(text, blocking("Exp"));
  Model again(once.proto());
  const Float16Plan plan = plan_float16(again, blocking("Exp"));
  const Model twice = lower_float16(std::move(again), plan);
  CHECK(twice.proto().SerializeAsString() == once.proto().SerializeAsString());
}
