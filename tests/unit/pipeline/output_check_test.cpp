#include "pipeline/output_check.h"

#include "catch.h"
#include "error_text.h"
#include "temp_dir.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

OutputCheck check(const std::string& before, const std::string& after, std::size_t samples = 1) {
  const TempDir dir;
  dir.write("a.onnx", text_proto(before).SerializeAsString());
  dir.write("b.onnx", text_proto(after).SerializeAsString());
  Config config;
  config.model.output = "out.onnx";
  return check_output(dir / "a.onnx", dir / "b.onnx", config, samples);
}

constexpr const char* kNeg = "agraph (float[N,2] x) => (float[N,2] y) { y = Neg (x) }";

TEST_CASE("output check: the worst output tells the cosine", "[pipeline]") {
  const OutputCheck same = check(kNeg, kNeg, 3);
  CHECK(same.sample_count == 3);
  CHECK(same.cosine == Approx(1));
  const OutputCheck other = check(
      "agraph (float[N,2] x) => (float[N,2] y, float[N,2] z) { y = Neg (x) z = Neg (x) }",
      "agraph (float[N,2] x) => (float[N,2] y, float[N,2] z) { y = Neg (x) z = Identity (x) }");
  CHECK(*other.cosine < 0.9);
}

TEST_CASE("output check: another shape counts as nothing alike", "[pipeline]") {
  CHECK(check(kNeg,
              "agraph (float[N,2] x) => (float[M] y) <int64[1] s = {-1}> { y = Reshape (x, s) "
              "}")
            .cosine == 0);
}

TEST_CASE("output check: a model that does not run on made-up samples is not checked",
          "[pipeline]") {
  const char* fails =
      "agraph (float[N,2] x) => (float[M] y) <int64[1] s = {7}> { y = Reshape (x, s) }";
  const OutputCheck found = check(fails, fails);
  CHECK(found.sample_count == 0);
  CHECK(found.note.starts_with("the model does not run on made-up samples: "));
}

TEST_CASE("output check: a result that alone does not run is a defect", "[pipeline]") {
  const std::string text = error_text([] {
    check(kNeg, "agraph (float[N,2] x) => (float[M] y) <int64[1] s = {7}> { y = Reshape (x, s) }");
  });
  CHECK(text.starts_with("out.onnx: the quantized model does not run on a made-up sample: "));
}

TEST_CASE("output check: models from 300 MB on are run only when asked", "[pipeline]") {
  CHECK(default_output_checks(299'999'999) == 1);
  CHECK(default_output_checks(300'000'000) == 0);
}

}  // namespace
}  // namespace qtool
