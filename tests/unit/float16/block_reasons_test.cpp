#include "float16/block_reasons.h"

#include "catch.h"
#include "converted.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::string first_reason(const std::string& text, const Float16Config& config = {}) {
  const Model model = typed_model(text);
  return block_reasons(ModelIndex(model), config, {}).front();
}

std::string scaled(const std::string& op_type, const std::string& factor) {
  return "agraph (float[2] x) => (float[2] y) <float f = {" + factor + "}> { y = " + op_type +
         " (x, f) }";
}

}  // namespace

TEST_CASE("float16: a factor below float16's digits, or a divisor above its range, is not lost",
          "[float16]") {
  const std::string kLost = "float16 does not hold its constant factor";
  CHECK(first_reason(scaled("Mul", "1e-8")) == kLost);
  CHECK(first_reason(scaled("Div", "1e8")) == kLost);
  CHECK(first_reason(scaled("Mul", "0.001")).empty());
  // Exactly a multiple of float16's least number.
  CHECK(first_reason(scaled("Mul", "0.0000152587890625")).empty());
  // A factor of masks.
  CHECK(first_reason(scaled("Mul", "-3e38")).empty());
  Float16Config bfloat16;
  bfloat16.type = "bfloat16";
  CHECK(first_reason(scaled("Mul", "1e-8"), bfloat16).empty());
}

TEST_CASE("float16: variances out of range keep a batch normalization in float32", "[float16]") {
  const auto reason = [](const std::string& variance) {
    return first_reason(
        "agraph (float[1,1,2] x) => (float[1,1,2] y) <float[1] s = {1}, float[1] b = {0}, float[1] "
        "m = {0}, float[1] v = {" +
        variance + "}> { y = BatchNormalization (x, s, b, m, v) }");
  };
  CHECK(reason("1e-5") == "float16 does not hold its parameters");
  CHECK(reason("1e8") == "float16 does not hold its parameters");
  CHECK(reason("0.5").empty());
}
