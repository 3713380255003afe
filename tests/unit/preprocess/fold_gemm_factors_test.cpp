#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("factors of a Gemm go into its constants", "[preprocess]") {
  const Model model = after_pass(text_model("agraph (float[N,2] x) => (float[N,2] y) <float[2,2] w "
                                            "= {1, 2, 3, 4}, float[2] b = {1, 2}> "
                                            "{ y = Gemm <alpha = 0.5, beta = 2.0> (x, w, b) }"),
                                 fold_gemm_factors);
  CHECK(model.graph().node(0).attribute_size() == 0);
  CHECK(initializer_names(model.graph()) == "w b");
}

TEST_CASE("a factor of a computed input stays", "[preprocess]") {
  const Model model =
      after_pass(text_model("agraph (float[N,2] x, float[2,2] w, float[2] b) => (float[N,2] y) "
                            "{ y = Gemm <alpha = 0.5, beta = 2.0> (x, w, b) }"),
                 fold_gemm_factors);
  CHECK(model.graph().node(0).attribute_size() == 2);
}
