#include "verify/compare.h"

#include <cmath>

#include "catch.h"
#include "samples.h"
#include "tensor_builder.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

/// Samples that the test makes itself, for a model with the input `x`.
class MadeSamples : public SampleFolder {
 public:
  explicit MadeSamples(std::vector<Sample> samples) : samples_(std::move(samples)) {}
  std::size_t size() const override { return samples_.size(); }
  const std::string& name(std::size_t index) const override { return samples_[index].name; }
  Sample read(std::size_t index) const override { return samples_[index]; }
  std::string sha256() const override { return ""; }
  std::string sha256_of(std::size_t) const override { return {}; }
  std::uint64_t bytes(std::size_t) const override { return 0; }

 private:
  std::vector<Sample> samples_;
};

Sample sample(std::string name, std::vector<float> values) {
  const auto width = static_cast<std::int64_t>(values.size());
  return {std::move(name), {{"x", float_tensor({1, width}, values)}}, {}};
}

Comparison compare(const std::string& reference, const std::string& other,
                   const SampleFolder& samples, const CompareOptions& options = {}) {
  const Model a = text_model(reference), b = text_model(other);
  return compare_models(Session(a, {}), Session(b, {}), samples, options);
}

const std::string kIdentity = "agraph (float[N,M] x) => (float[N,M] y) { y = Identity (x) }";

TEST_CASE("compare: figures of two models over samples", "[verify]") {
  const std::string shifted =
      "agraph (float[N,M] x) => (float[N,M] y) <float s = {1}> { y = Add (x, s) }";
  const MadeSamples samples({sample("s1", {3, 4}), sample("s2", {0, 5})});
  const Comparison result = compare(kIdentity, shifted, samples);
  CHECK(result.sample_count == 2);
  REQUIRE(result.outputs.size() == 1);
  const TensorDistance& y = result.outputs[0];
  CHECK(y.name == "y");
  CHECK(y.sample_count == 2);
  CHECK(y.cosine_min == Approx(30 / (5 * std::sqrt(37.0))));
  CHECK(y.worst_sample == "s2");
  CHECK(y.cosine_mean == Approx((32 / (5 * std::sqrt(41.0)) + y.cosine_min) / 2));
  CHECK(y.sqnr_db == Approx(10 * std::log10(50.0 / 4)));
  CHECK(y.max_abs_error == 1);
  CHECK(y.mean_abs_error == 1);
  CHECK(result.top1.agreement == 1.0);
  CHECK_FALSE(result.top1.accuracy);
  CHECK(result.expected.empty());
}

TEST_CASE("compare: labels give the accuracy of both models", "[verify]") {
  const std::string negated = "agraph (float[N,M] x) => (float[N,M] y) { y = Neg (x) }";
  const MadeSamples samples({sample("s1", {1, 2}), sample("s2", {2, 1}), sample("s3", {0, 1})});
  const std::vector<std::int64_t> labels = {1, 0, 0};
  const Comparison result = compare(kIdentity, negated, samples, {.labels = labels});
  CHECK(result.top1.agreement == 0.0);
  CHECK(result.top1.reference_accuracy == Approx(2.0 / 3));
  CHECK(result.top1.accuracy == Approx(1.0 / 3));
  CHECK(result.top1.drop == Approx(1.0 / 3));
}

TEST_CASE("compare: outputs are matched by name, then by position", "[verify]") {
  const std::string two = R"(agraph (float[N,M] x) => (float[N,M] a, float[N,M] b) {
      a = Identity (x) b = Neg (x) })";
  const std::string swapped = R"(agraph (float[N,M] x) => (float[N,M] b, float[N,M] a_int8) {
      a_int8 = Identity (x) b = Neg (x) })";
  const MadeSamples samples({sample("s1", {1, 2})});
  // `b` goes to `b`; `a` stands where `b` does, and finds nothing.
  const Comparison result = compare(two, swapped, samples);
  REQUIRE(result.uncompared.size() == 1);
  CHECK(result.uncompared[0].name == "a");
  CHECK(result.uncompared[0].reason == "compared model does not have it");
  REQUIRE(result.outputs.size() == 1);
  CHECK(result.outputs[0].name == "b");
  CHECK(result.outputs[0].cosine_mean == 1);
}

TEST_CASE("compare: a model that takes and gives float16 is fed and compared", "[verify]") {
  const std::string half = "agraph (float16[N,M] x) => (float16[N,M] y) { y = Identity (x) }";
  const MadeSamples samples({sample("s1", {1, 2.0009765625f})});
  const Comparison result = compare(kIdentity, half, samples);
  CHECK(result.outputs[0].max_abs_error == 0.0009765625);
}

TEST_CASE("compare: shapes that differ are skipped and counted", "[verify]") {
  const std::string flat =
      "agraph (float[N,M] x) => (float[K] y) <int64[1] s = {-1}> { y = Reshape (x, s) }";
  const MadeSamples samples({sample("s1", {1, 2})});
  const Comparison result = compare(kIdentity, flat, samples);
  CHECK(result.outputs[0].skipped == 1);
  CHECK(result.outputs[0].sample_count == 0);
}

TEST_CASE("compare: both models are held against the expected outputs of the data", "[verify]") {
  const std::string doubled = "agraph (float[N,M] x) => (float[N,M] y) { y = Add (x, x) }";
  Sample by_position = sample("s1", {1, 2});
  by_position.expected_outputs = {{"", float_tensor({1, 2}, {1, 2})}};
  Sample by_name = sample("s2", {3, 1});
  by_name.expected_outputs = {{"y", float_tensor({1, 2}, {3, 2})}};
  const MadeSamples samples({by_position, by_name, sample("s3", {1, 1})});
  const Comparison result = compare(kIdentity, doubled, samples);
  REQUIRE(result.reference_expected.size() == 1);
  CHECK(result.reference_expected[0].sample_count == 2);
  CHECK(result.reference_expected[0].max_abs_error == 1);
  REQUIRE(result.expected.size() == 1);
  CHECK(result.expected[0].max_abs_error == 3);
  CHECK(result.outputs[0].sample_count == 3);
}

TEST_CASE("compare: the result is the same on any number of threads", "[verify]") {
  std::vector<Sample> made;
  for (int i = 0; i < 40; ++i) {
    const auto v = static_cast<float>(i);
    made.push_back(
        sample("s" + std::to_string(i), {std::sin(v), std::cos(v), 1e4f * std::sin(3 * v)}));
  }
  const std::string other = R"(agraph (float[N,M] x) => (float[N,M] y) <float s = {0.1}> {
      r = Div (x, s) q = Round (r) y = Mul (q, s) })";
  const MadeSamples samples(std::move(made));
  std::size_t last_done = 0, last_total = 0;
  const Comparison one = compare(kIdentity, other, samples);
  const Comparison many =
      compare(kIdentity, other, samples,
              {.threads = 4, .progress = [&](std::size_t done, std::size_t total) {
                 last_done = done;
                 last_total = total;
               }});
  CHECK(one.outputs[0].cosine_mean == many.outputs[0].cosine_mean);
  CHECK(one.outputs[0].sqnr_db == many.outputs[0].sqnr_db);
  CHECK(one.outputs[0].mean_abs_error == many.outputs[0].mean_abs_error);
  CHECK(one.outputs[0].worst_sample == many.outputs[0].worst_sample);
  CHECK(last_done == 40);
  CHECK(last_total == 40);
}

TEST_CASE("compare: an output of strings is left out, the first of numbers names the class",
          "[verify]") {
  const std::string text = R"(agraph (float[N,M] x) => (string[N,M] s, float[N,M] y) {
      s = Cast <to = 8> (x) y = Identity (x) })";
  const MadeSamples samples({sample("s1", {1, 2})});
  const Comparison result = compare(text, text, samples);
  REQUIRE(result.uncompared.size() == 1);
  CHECK(result.uncompared[0].name == "s");
  CHECK(result.uncompared[0].reason == "it holds no tensor of numbers");
  REQUIRE(result.outputs.size() == 1);
  CHECK(result.outputs[0].name == "y");
  CHECK(result.top1.agreement == 1.0);
}

TEST_CASE("compare: models that have nothing in common are refused by name", "[verify]") {
  const MadeSamples samples({sample("s1", {1, 2})});
  const CompareOptions options{.reference_name = "a.onnx", .other_name = "b.onnx"};
  const std::string more_inputs =
      "agraph (float[N,M] x, float[N,M] mask) => (float[N,M] y) { y = Mul (x, mask) }";
  CHECK(failure_of([&] { compare(kIdentity, more_inputs, samples, options); }) ==
        "exit 3: b.onnx: takes input 'mask', expected inputs of the reference: x");
  const std::string only_text =
      "agraph (float[N,M] x) => (string[N,M] s) { s = Cast <to = 8> (x) }";
  CHECK(failure_of([&] { compare(only_text, kIdentity, samples, options); }) ==
        "exit 3: b.onnx: has no output to compare with a.onnx, expected numbers in s");
}

}  // namespace
}  // namespace qtool
