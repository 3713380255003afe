#include "preprocess/fusion.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::string fused(const std::string& shape, const std::string& bias, const std::string& body) {
  return left_by("agraph (float[" + shape + "] x) => (y) <float[2,3] w = {1, -2, 3, 4, 5, 6}, " +
                     bias + "> { " + body + " }",
                 fuse_gemm);
}

}  // namespace

TEST_CASE("fuse_gemm: the product of matrices and a bias are one Gemm", "[preprocess]") {
  CHECK(fused("4,2", "float[3] b = {1, 2, 3}", "m = MatMul (x, w) y = Add (m, b)") == "Gemm");
  CHECK(fused("4,2", "float[1,3] b = {1, 2, 3}", "m = MatMul (x, w) y = Add (b, m)") == "Gemm");
  CHECK(fused("4,2", "float b = {1}", "m = MatMul (x, w) y = Add (m, b)") == "Gemm");
}

TEST_CASE("fuse_gemm: more axes, other readers and addends per row stay", "[preprocess]") {
  CHECK(fused("4,2", "float[4,1] b = {1, 2, 3, 4}", "m = MatMul (x, w) y = Add (m, b)") ==
        "MatMul Add");
  CHECK(fused("4,2", "float[3] b = {1, 2, 3}", "m = MatMul (x, w) a = Add (m, b) y = Add (a, m)") ==
        "MatMul Add Add");
}

TEST_CASE("fuse_gemm: of more axes the bias becomes a row, which no Gemm takes", "[preprocess]") {
  const auto shape_of_bias = [](const char* shape) {
    const Model model = after_pass(
        text_model(std::string("agraph (float[") + shape +
                   "] x) => (y) <float[2,3] w = {1, -2, 3, 4, 5, 6}, float[3] b = {1, 2, 3}> "
                   "{ m = MatMul (x, w) y = Add (m, b) }"),
        fuse_gemm);
    CHECK(op_types(model.graph()) == "MatMul Add");
    return *GraphView(model.graph()).shape_of(model.graph().node(1).input(1));
  };
  CHECK(shape_of_bias("1,4,2") == std::vector<std::int64_t>{1, 3});
  CHECK(shape_of_bias("N,4,2") == std::vector<std::int64_t>{3});
}
