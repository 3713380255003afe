#include "preprocess/preprocess.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("a CastLike of a known type becomes a Cast to that", "[preprocess]") {
  const Model model = after_pass(
      text_model("agraph (float[2] x, int64[N] like) => (int64[2] y) { y = CastLike (x, like) }"),
      cast_likes_to_casts);
  CHECK(op_types(model.graph()) == "Cast");
  CHECK(model.graph().node(0).input_size() == 1);
  CHECK(int_attribute(model.graph().node(0), "to", 0) == onnx::TensorProto::INT64);
}

TEST_CASE("a constant cast like an input folds, a value cast to what it is stays itself",
          "[preprocess]") {
  const Model before = text_model(R"(agraph (float[2] x) => (float[2] y) <int64 two = {2}> {
    t = CastLike (two, x)
    p = Pow (x, t)
    c = CastLike (p, x)
    y = Neg (c)
  })");
  Model model = before.clone();
  preprocess(model, {});
  CHECK(op_types(model.graph()) == "Pow Neg");
  CHECK(difference(before, model) == 0);
}
