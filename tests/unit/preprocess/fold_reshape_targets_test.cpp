#include "model/graph_view.h"
#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Model folded(const std::string& text) {
  return after_pass(text_model(text), fold_reshape_targets, 0);
}

/// The target of the first Reshape that is left, or of the one that makes `output`.
std::vector<std::int64_t> target(const Model& model, const std::string& output = {}) {
  for (const auto& node : model.graph().node()) {
    if (node.op_type() != "Reshape" || (!output.empty() && node.output(0) != output)) continue;
    const auto* tensor = GraphView(model.graph()).initializer(node.input(1));
    if (!tensor) return {};
    const Tensor values = model.tensor(*tensor);
    return {values.int64s().begin(), values.int64s().end()};
  }
  return {};
}

}  // namespace

TEST_CASE("sizes asked of the data itself become zeros", "[preprocess]") {
  const Model model = folded(R"(agraph (float[N,M,8] x) => (float[N,A,4,2] y)
    <int64 zero = {0}, int64 one = {1}, int64[1] first = {0}, int64[2] rest = {4, 2}> {
    a = Neg (x)
    s = Shape (a)
    n = Gather (s, zero)
    m = Gather (s, one)
    n1 = Unsqueeze (n, first)
    m1 = Unsqueeze (m, first)
    t = Concat <axis = 0> (n1, m1, rest)
    y = Reshape (a, t)
  })");
  CHECK(op_types(model.graph()) == "Neg Reshape");
  CHECK(target(model) == std::vector<std::int64_t>{0, 0, 4, 2});
}

TEST_CASE("sizes are followed through products, transposes and integer casts", "[preprocess]") {
  const Model model = folded(R"(agraph (float[N,M,4] x) => (float[N,B,C,D] y)
    <float[4,4] w = {1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1}, int64[1] first = {0}, int64[1] two = {2}, int64[1] one = {1}> {
    p = MatMul (x, w)
    t = Transpose <perm = [0, 2, 1]> (p)
    s = Shape (t)
    c = Cast <to = 6> (s)
    f = Slice (c, first, two)
    d = Cast <to = 7> (f)
    s0 = Gather (d, first)
    sx = Shape (x)
    m = Gather (sx, one)
    q = Concat <axis = 0> (s0, two, two, m)
    y = Reshape (t, q)
  })");
  CHECK(op_types(model.graph()) == "MatMul Transpose Reshape");
  CHECK(target(model) == std::vector<std::int64_t>{0, 2, 2, -1});
}

TEST_CASE("two sizes that share a name are not taken for one", "[preprocess]") {
  // Callers give what they like for both.
  const Model model =
      folded(R"(agraph (float[N,N] x) => (float[A,B] y) <int64[1] zero = {0}, int64[1] one = {1}> {
    s = Shape (x)
    a = Gather (s, one)
    b = Gather (s, zero)
    t = Concat <axis = 0> (a, b)
    y = Reshape (x, t)
  })");
  CHECK(op_types(model.graph()) == "Shape Gather Gather Concat Reshape");
}

TEST_CASE("a Reshape to the shape that the data has goes", "[preprocess]") {
  const Model model = folded(R"(agraph (float[N,M] x) => (float[N,M] y) {
    a = Neg (x)
    s = Shape (x)
    r = Reshape (a, s)
    y = Exp (r)
  })");
  CHECK(op_types(model.graph()) == "Neg Exp");
}

TEST_CASE("what a Reshape leaves over is the one size that the others leave", "[preprocess]") {
  const Model model = folded(R"(agraph (float[N,1,2,4] x, float[6,8] w) => (float[A,B,C] y)
    <int64[3] joined = {0, 0, -1}, int64[2] rows = {-1, 8}, int64 first = {0}, int64[1] one = {1},
     int64[1] rest = {-1}, int64[1] axis = {0}> {
    j = Reshape (x, joined)
    s = Shape (j)
    n = Gather <axis = 0> (s, first)
    r = Reshape (j, rows)
    g = Gemm <transB = 1> (r, w)
    u = Unsqueeze (n, axis)
    t = Concat <axis = 0> (u, one, rest)
    y = Reshape (g, t)
  })");
  CHECK(op_types(model.graph()) == "Reshape Reshape Gemm Reshape");
  CHECK(target(model, "y") == std::vector<std::int64_t>{0, 1, -1});
}

TEST_CASE("a size that is left over from two free ones is neither of them", "[preprocess]") {
  const Model model = folded(R"(agraph (float[N,M,4] x) => (float[A,B] y)
    <int64[2] rows = {-1, 4}, int64[1] zero = {0}, int64[1] rest = {-1}, int64[1] eight = {8}> {
    r = Reshape (x, rows)
    a = Neg (r)
    s = Shape (x)
    n = Gather (s, zero)
    t = Concat <axis = 0> (n, rest)
    y = Reshape (a, t)
  })");
  CHECK(op_types(model.graph()) == "Reshape Neg Shape Gather Concat Reshape");
}

TEST_CASE("rows of a product of integers are those of its floats", "[preprocess]") {
  const Model model = folded(R"(agraph (float[N,2,4] x) => (float[A,B,C] y)
    <int8[8,3] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6}, int64[2] rows = {-1, 8},
     int64[1] first = {0}, int64[1] one = {1}, int64[1] rest = {-1}> {
    s = Shape (x)
    n = Gather (s, first)
    r = Reshape (x, rows)
    q, scale, zero = DynamicQuantizeLinear (r)
    p = MatMulInteger (q, w, zero)
    f = Cast <to = 1> (p)
    t = Concat <axis = 0> (n, one, rest)
    y = Reshape (f, t)
  })");
  CHECK(op_types(model.graph()) == "Reshape DynamicQuantizeLinear MatMulInteger Cast Reshape");
  CHECK(target(model, "y") == std::vector<std::int64_t>{0, 1, -1});
}
