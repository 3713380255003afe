#include "preprocess/rejoin_hard_swish.h"

#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

const std::string kSwish = "c = Conv (x, w) a = Add (c, three) k = Clip (a, zero, six) ";

Model rejoined(const std::string& body, std::int64_t opset, bool may_raise_opset = true) {
  const Model before =
      text_model("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) +
                 "]> agraph (float[1,2,3,3] x) => (float[1,2,3,3] y) "
                 "<float[2,2,1,1] w = {1, -2, 3, 4}, float[2,2,1,1] v = {3, -1, 2, 4}, "
                 "float three = {3}, float zero = {0}, float six = {6}, float half = {0.5}, "
                 "float step = {0.25}, uint8 point = {128}> { " +
                 body + " }");
  return after_pass(before,
                    [&](Model& model) { return rejoin_hard_swish(model, may_raise_opset); });
}

std::string left(const std::string& body, std::int64_t opset = 14) {
  return op_types(rejoined(body, opset).graph());
}

}  // namespace

TEST_CASE("rejoin_hard_swish: the factor goes back into the weight behind", "[preprocess]") {
  const Model model = rejoined(kSwish + "m = Mul (c, k) y = Conv (m, v)", 14);
  CHECK(op_types(model.graph()) == "Conv HardSwish Conv");
  CHECK(initializer_names(model.graph()) == "w v");
  CHECK(model.graph().node(1).output(0) == "c_swish");
}

TEST_CASE(
    "rejoin_hard_swish: a quantizer's scale takes the factor, its DequantizeLinear's does not",
    "[preprocess]") {
  const Model model = rejoined(kSwish +
                                   "m = Mul (k, c) q = QuantizeLinear (m, step, point) "
                                   "d = DequantizeLinear (q, step, point) y = Conv (d, v)",
                               14);
  CHECK(op_types(model.graph()) == "Conv HardSwish QuantizeLinear DequantizeLinear Conv");
  CHECK(model.graph().node(2).input(1) != "step");
  CHECK(model.graph().node(3).input(1) == "step");
}

TEST_CASE("rejoin_hard_swish: a factor that is there goes", "[preprocess]") {
  CHECK(left(kSwish + "m = Mul (c, k) h = Div (m, six) r = Relu (h) y = Add (h, r)") ==
        "Conv HardSwish Relu Add");
}

TEST_CASE("rejoin_hard_swish: opset 13 becomes 14, an earlier one stays", "[preprocess]") {
  const std::string body = kSwish + "m = Mul (c, k) y = Conv (m, v)";
  const Model model = rejoined(body, 13);
  CHECK(model.opset() == 14);
  CHECK(op_types(model.graph()) == "Conv HardSwish Conv");
  CHECK(left(body, 12) == "Conv Add Clip Mul Conv");
  CHECK(rejoined("y = Conv (x, w)", 13).opset() == 13);
  CHECK(rejoined(body, 13, false).opset() == 13);
  CHECK(op_types(rejoined(body, 14, false).graph()) == "Conv HardSwish Conv");
}

TEST_CASE("rejoin_hard_swish: parts between pairs, and what is no HardSwish, stay",
          "[preprocess]") {
  CHECK(left("c = Conv (x, w) q = QuantizeLinear (c, step, point) "
             "d = DequantizeLinear (q, step, point) a = Add (d, three) k = Clip (a, zero, six) "
             "m = Mul (d, k) y = Conv (m, v)") ==
        "Conv QuantizeLinear DequantizeLinear Add Clip Mul Conv");
  CHECK(left("c = Conv (x, w) a = Add (c, three) k = Clip (a, zero, six) "
             "q = QuantizeLinear (k, step, point) d = DequantizeLinear (q, step, point) "
             "m = Mul (c, d) y = Conv (m, v)") ==
        "Conv Add Clip QuantizeLinear DequantizeLinear Mul Conv");
  CHECK(left("c = Conv (x, w) a = Add (c, half) k = Clip (a, zero, six) m = Mul (c, k) "
             "y = Conv (m, v)") == "Conv Add Clip Mul Conv");
  CHECK(left(kSwish + "m = Mul (c, k) r = Relu (m) y = Add (m, r)") ==
        "Conv Add Clip Mul Relu Add");
}
