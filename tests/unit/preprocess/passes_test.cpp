#include "preprocess/passes.h"

#include <algorithm>

#include "base/error.h"
#include "catch.h"
#include "graph_text.h"
#include "model/graph_view.h"
#include "preprocess/preprocess.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Model everything() {
  return text_model(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    agraph (float[N,1,4,4] x) => (float[N,1,4,4] y)
      <float[1] s = {3}, float[1] o = {0.5}, float[1] m = {0.25}, float[1] v = {2}> {
        w = Constant <value = float[1,1,1,1] {2}> ()
        w2 = Identity (w)
        two = Constant <value_float = 2.0> ()
        three = Exp (two)
        c = Conv (x, w2)
        i = Identity (c)
        n = BatchNormalization (i, s, o, m, v)
        dead = Neg (n)
        a = local.Act (n)
        b = local.Act (n)
        d = Add (a, b)
        y = Mul (d, three)
    }
    <domain: "local", opset_import: ["" : 17]>
    Act (a) => (c) { c = Relu (a) })");
}

std::string pass_names(const PreprocessReport& report) {
  std::string names;
  for (const auto& pass : report.passes) names += (names.empty() ? "" : " ") + pass.name;
  return names;
}

}  // namespace

TEST_CASE("normalizing inlines, moves constants and infers, and no more", "[preprocess]") {
  Model model = everything();
  const PreprocessReport report = normalize(model);
  CHECK(pass_names(report) ==
        "inline_functions rename_shadowing_values constants_to_initializers remove_identities "
        "infer_shapes");
  CHECK(op_types(model.graph()) == "Exp Conv Identity BatchNormalization Neg Relu Relu Add Mul");
  CHECK(report.notes.empty());
  CHECK(difference(everything(), model) == 0);
}

TEST_CASE("preprocessing leaves what computes, and the same values", "[preprocess]") {
  Model model = everything();
  const PreprocessReport report = preprocess(model, {});
  CHECK(op_types(model.graph()) == "Conv Relu Add Mul");
  CHECK(initializer_names(model.graph()) == "w three c_bias");
  CHECK(report.passes.front().nodes_before == 12);
  CHECK(report.passes.back().nodes_after == 4);
  CHECK(difference(everything(), model) <= 1e-6);
}

TEST_CASE("preprocessing twice is preprocessing once", "[preprocess]") {
  Model model = everything();
  preprocess(model, {});
  const std::string once = model.proto().SerializeAsString();
  preprocess(model, {});
  CHECK(model.proto().SerializeAsString() == once);
}

TEST_CASE("each part of preprocessing can be left out", "[preprocess]") {
  const auto left = [](const PreprocessConfig& config) {
    Model model = everything();
    preprocess(model, config);
    return op_types(model.graph());
  };
  PreprocessConfig config;
  config.fold_constants = false;
  CHECK(left(config) == "Exp Conv Relu Add Mul");
  config.simplify = false;
  CHECK(left(config) == "Exp Conv Identity BatchNormalization Neg Relu Relu Add Mul");
  config = {};
  config.simplify = false;
  CHECK(left(config) == "Conv Identity BatchNormalization Relu Relu Add Mul");
  config = {};
  config.enabled = false;
  CHECK(left(config) == "Exp Conv Identity BatchNormalization Neg Relu Relu Add Mul");
}

TEST_CASE("sizes of the config reach every shape", "[preprocess]") {
  Model model = everything();
  PreprocessConfig config;
  config.dims = {{"N", 3}};
  preprocess(model, config);
  CHECK(GraphView(model.graph()).shape_of("n") == std::vector<std::int64_t>{3, 1, 4, 4});
}

TEST_CASE("the opset is raised where the config says so, never lowered", "[preprocess]") {
  Model model = everything();
  PreprocessConfig config;
  config.opset = 19;
  preprocess(model, config);
  CHECK(model.opset() == 19);
  config.opset = 18;
  CHECK_THROWS_WITH(preprocess(model, config),
                    "preprocess.opset: 18, expected at least the model's 19");
}
