#include <algorithm>

#include "preprocess/fusion.h"
#include "preprocess/preprocess.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// Two layer normalizations, a Gelu, a SiLU and a normalization by the root mean square.
Model model_of(int opset) {
  const std::string axes = opset < 18 ? "<axes = [-1]> (" : "(";
  const std::string last = opset < 18 ? ")" : ", last)";
  const auto mean = [&](const std::string& value) {
    return "ReduceMean " + axes + value + last + " ";
  };
  const auto norm = [&](const std::string& x, const std::string& p) {
    return p + "m = " + mean(x) + p + "s = Sub (" + x + ", " + p + "m) " + p + "q = Mul (" + p +
           "s, " + p + "s) " + p + "v = " + mean(p + "q") + p + "e = Add (" + p + "v, eps) " + p +
           "r = Sqrt (" + p + "e) " + p + "d = Div (" + p + "s, " + p + "r) " + p + "o = Mul (" +
           p + "d, w) ";
  };
  return text_model("<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) +
                    "]> agraph (float[2,4] x) => (float[2,4] y) <float[4] w = {1, 2, 3, 4}, "
                    "float eps = {0.001}, float half = {0.5}, float one = {1}, "
                    "float root = {1.4142135}, int64[1] last = {-1}> { " +
                    norm("x", "a") + norm("ao", "b") +
                    "d = Div (bo, root) e = Erf (d) f = Add (e, one) g = Mul (bo, f) "
                    "h = Mul (g, half) i = Sigmoid (h) j = Mul (h, i) k = Mul (j, j) l = " +
                    mean("k") + "n = Add (l, eps) o = Sqrt (n) p = Div (j, o) y = Mul (p, w) }");
}

std::string left(Model& model, const PreprocessConfig& config, Purpose purpose = Purpose::Running) {
  std::string out;
  for (const PatternLeft& each : preprocess(model, config, purpose).patterns_left)
    out += std::to_string(each.count) + " " + each.fusion + ": " + each.reason + "\n";
  return out;
}

}  // namespace

TEST_CASE("patterns that the opset has no operator for are told once, with their number",
          "[preprocess]") {
  Model old = model_of(13);
  CHECK(left(old, {}) ==
        "1 gelu: preprocess.opset 20: Gelu; preprocess.fusions: Gelu\n"
        "2 layernorm: preprocess.opset 17: LayerNormalization\n"
        "1 rmsnorm: preprocess.opset 23: RMSNormalization\n"
        "1 silu: preprocess.opset 24: Swish; preprocess.fusions: QuickGelu\n");
  Model newer = model_of(20);
  CHECK(left(newer, {}) ==
        "1 rmsnorm: preprocess.opset 23: RMSNormalization\n"
        "1 silu: preprocess.opset 24: Swish; preprocess.fusions: QuickGelu\n");
  Model newest = model_of(25);
  CHECK(left(newest, {}) == "1 silu: preprocess.fusions: QuickGelu\n");
}

TEST_CASE("nothing is told of patterns that nobody wants or that were fused", "[preprocess]") {
  PreprocessConfig config;
  config.fusions = {"gelu", "silu"};
  Model quantizing = model_of(13);
  CHECK(left(quantizing, config, Purpose::Quantizing).empty());
  config.simplify = false;
  Model plain = model_of(13);
  CHECK(left(plain, config).empty());
  CHECK(op_types(plain.graph()).find("QuickGelu") != std::string::npos);
}

TEST_CASE("a raised opset brings its operators, and a second run finds nothing to do",
          "[preprocess]") {
  PreprocessConfig config;
  config.opset = 23;
  Model model = model_of(13);
  const Model before = model.clone();
  CHECK(left(model, config) ==
        "1 silu: preprocess.opset 24: Swish; preprocess.fusions: QuickGelu\n");
  CHECK(op_types(model.graph()) ==
        "LayerNormalization LayerNormalization Gelu Sigmoid Mul RMSNormalization");
  CHECK(difference(before, model) <= 2e-6);
  const std::string once = model.proto().SerializeAsString();
  preprocess(model, config);
  CHECK(model.proto().SerializeAsString() == once);
}

TEST_CASE("a fusion asked for that the opset has no operator for is noted", "[preprocess]") {
  PreprocessConfig config;
  config.fusions = {"layernorm"};
  Model model = model_of(13);
  const auto notes = preprocess(model, config, Purpose::Quantizing).notes;
  REQUIRE(notes.size() == 1);
  CHECK(notes[0] ==
        "preprocess.fusions: layernorm left as it is, 2 found: preprocess.opset 17: "
        "LayerNormalization");
}
