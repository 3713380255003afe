#include "pipeline/preprocess_check.h"

#include "catch.h"
#include "error_text.h"
#include "temp_dir.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

/// The check of `result` against `original`, both as text.
PreprocessCheck check(const std::string& original, const std::string& result,
                      std::size_t samples = 1) {
  const TempDir dir;
  dir.write("a.onnx", text_proto(original).SerializeAsString());
  return check_preprocessed(dir / "a.onnx", text_model(result), Config(), samples);
}

constexpr const char* kNeg = "agraph (float[N,2] x) => (float[N,2] y) { y = Neg (x) }";

TEST_CASE("preprocess check: equal models agree", "[pipeline]") {
  const PreprocessCheck found = check(kNeg, kNeg, 3);
  CHECK(found.sample_count == 3);
  CHECK(found.made_up);
  CHECK(found.error == 0);
}

TEST_CASE("preprocess check: inputs may be integers, flags and single numbers", "[pipeline]") {
  const std::string text =
      "agraph (int64[N] x, bool[N] c, int64 s, float16[N] h) => (float16[N] y) "
      "{ a = Add (x, s) b = Cast <to = 10> (a) y = Where (c, b, h) }";
  CHECK(check(text, text, 2).sample_count == 2);
}

TEST_CASE("preprocess check: other values and other shapes are refused", "[pipeline]") {
  CHECK_THROWS_WITH(
      check(kNeg, "agraph (float[N,2] x) => (float[N,2] y) <float k = {-1.01}> { y = Mul (x, k) }"),
      Catch::Contains("output 'y' of the preprocessed model differs from the model's: relative "
                      "error 0.01, expected at most 0.001"));
  CHECK_THROWS_WITH(check(kNeg,
                          "agraph (float[N,2] x) => (float[A,B,C] y) <int64[1] a = {0}> "
                          "{ n = Neg (x) y = Unsqueeze (n, a) }"),
                    Catch::Contains("another shape"));
}

TEST_CASE("preprocess check: rounding is no difference", "[pipeline]") {
  const PreprocessCheck found = check(
      kNeg, "agraph (float[N,2] x) => (float[N,2] y) <float k = {-1.0001}> { y = Mul (x, k) }");
  CHECK(found.error > 5e-5);
  CHECK(found.error < 2e-4);
}

TEST_CASE("preprocess check: what rounding of the inputs moves as far is no difference",
          "[pipeline]") {
  const auto steep = [](const std::string& slope) {
    return "agraph (float[N,2] x) => (float[N,2] y) <float k = {" + slope +
           "}> { a = Mul (x, k) y = Sin (a) }";
  };
  const PreprocessCheck found = check(steep("100000"), steep("100000.02"));
  CHECK(found.sample_count == 1);
  CHECK(found.error > 1e-3);
  CHECK_THROWS_WITH(check(steep("10"), steep("10.1")), Catch::Contains("relative error"));
}

TEST_CASE("preprocess check: a model that needs other samples is not checked, and that is said",
          "[pipeline]") {
  const std::string text =
      "agraph (float[A,2] x, float[B,2] w) => (float[C,2] y) <int64[2] s = {7, 2}> "
      "{ r = Reshape (x, s) y = Add (r, w) }";
  const PreprocessCheck found = check(text, text);
  CHECK(found.sample_count == 0);
  CHECK(found.note.find("the model does not run on made-up samples") == 0);
}

TEST_CASE("preprocess check: only small models are checked where nobody says", "[pipeline]") {
  CHECK(default_check_samples(499'999'999) == 1);
  CHECK(default_check_samples(500'000'000) == 0);
}

}  // namespace
}  // namespace qtool
