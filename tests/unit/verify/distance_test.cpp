#include "verify/distance.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "tensor_builder.h"

namespace qtool {
namespace {

using namespace testing;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

SampleDistance between(const std::vector<float>& reference, const std::vector<float>& other) {
  const auto count = static_cast<std::int64_t>(reference.size());
  return measure_distance(float_tensor({count}, reference), float_tensor({count}, other));
}

TEST_CASE("distance: figures of one sample follow their formulas", "[verify]") {
  const SampleDistance d = between({3, 4, 0}, {3, 4, 12});
  CHECK(d.comparable);
  CHECK(d.value_count == 3);
  CHECK(d.cosine == Approx(25.0 / (5 * 13)));
  CHECK(d.reference_squares == 25);
  CHECK(d.error_squares == 144);
  CHECK(d.error_sum == 12);
  CHECK(d.max_error == 12);
}

TEST_CASE("distance: equal tensors have cosine exactly 1 and no error", "[verify]") {
  const SampleDistance d = between({0.1f, -0.7f, 1e-30f}, {0.1f, -0.7f, 1e-30f});
  CHECK(d.cosine == 1);
  CHECK(d.error_squares == 0);
  CHECK(between({0, 0}, {0, -0.0f}).cosine == 1);
}

TEST_CASE("distance: a zero vector against another has cosine 0", "[verify]") {
  CHECK(between({0, 0}, {1, 0}).cosine == 0);
  CHECK(between({1, 0}, {0, 0}).cosine == 0);
}

TEST_CASE("distance: opposite tensors have cosine -1", "[verify]") {
  CHECK(between({0.1f, 0.3f}, {-0.1f, -0.3f}).cosine == -1);
}

TEST_CASE("distance: the same NaN or infinity in both is left out", "[verify]") {
  const SampleDistance d = between({kInf, -kInf, kNaN, 2}, {kInf, -kInf, kNaN, 1});
  CHECK(d.nonfinite == 0);
  CHECK(d.value_count == 4);
  CHECK(d.error_squares == 1);
  CHECK(d.max_error == 1);
  CHECK(d.cosine == 1);
}

TEST_CASE("distance: a value that is not finite on one side makes the error infinite", "[verify]") {
  for (const float bad : {kInf, -kInf, kNaN}) {
    for (const SampleDistance& d : {between({1, 2}, {1, bad}), between({1, bad}, {1, 2})}) {
      CHECK(d.nonfinite == 1);
      CHECK(d.cosine == 0);
      CHECK(std::isinf(d.error_squares));
      CHECK(std::isinf(d.error_sum));
      CHECK(std::isinf(d.max_error));
      CHECK(d.reference_squares == 1);
    }
  }
  CHECK(between({kInf}, {-kInf}).nonfinite == 1);
}

TEST_CASE("distance: tensors of different shape or without numbers are not comparable",
          "[verify]") {
  CHECK_FALSE(
      measure_distance(float_tensor({2, 1}, {1, 2}), float_tensor({1, 2}, {1, 2})).comparable);
  const Tensor strings{ElementType::String, {1}, {}};
  CHECK_FALSE(measure_distance(strings, strings).comparable);
}

TEST_CASE("distance: tensors without elements are comparable and hold nothing", "[verify]") {
  const SampleDistance d = measure_distance(float_tensor({0, 4}, {}), float_tensor({0, 4}, {}));
  CHECK(d.comparable);
  CHECK(d.value_count == 0);
}

TEST_CASE("distance: integers and bools compare as numbers and count equal values", "[verify]") {
  const SampleDistance d =
      measure_distance(int64_tensor({3}, {1, 2, 7}), int64_tensor({3}, {1, 5, 7}));
  CHECK(d.is_discrete);
  CHECK(d.equal_count == 2);
  CHECK(d.max_error == 3);
  const auto bools = [](std::vector<std::uint8_t> values) {
    return make_tensor_of(ElementType::Bool, {2}, values);
  };
  CHECK(measure_distance(bools({0, 1}), bools({1, 1})).equal_count == 1);
}

TEST_CASE("distance: types may differ, values count", "[verify]") {
  const Tensor half = make_tensor_of<std::uint16_t>(ElementType::Float16, {2}, {0x3C00, 0xC100});
  const SampleDistance d = measure_distance(float_tensor({2}, {1, -2}), half);
  CHECK(d.error_squares == 0.25);
  CHECK_FALSE(d.is_discrete);
}

TEST_CASE("distance: float64 magnitudes whose squares overflow count as infinite", "[verify]") {
  const auto doubles = [](std::vector<double> values) {
    return make_tensor_of(ElementType::Double, {2}, values);
  };
  CHECK(measure_distance(doubles({1e200, 1}), doubles({1e200, 1})).error_squares == 0);
  CHECK(measure_distance(doubles({1e200, 1}), doubles({2e200, 1})).nonfinite == 1);
}

TEST_CASE("tally: cosine is averaged over samples, SQNR taken over all of them", "[verify]") {
  DistanceTally tally("y");
  tally.add("s1", between({3, 4}, {3, 4}));
  tally.add("s2", between({0, 10}, {10, 10}));
  const TensorDistance d = tally.result();
  CHECK(d.name == "y");
  CHECK(d.sample_count == 2);
  CHECK(d.value_count == 4);
  CHECK(d.cosine_mean == Approx((1 + std::sqrt(0.5)) / 2));
  CHECK(d.cosine_min == Approx(std::sqrt(0.5)));
  CHECK(d.worst_sample == "s2");
  CHECK(d.sqnr_db == Approx(10 * std::log10(125.0 / 100)));
  CHECK(d.max_abs_error == 10);
  CHECK(d.mean_abs_error == 2.5);
  CHECK_FALSE(d.equal_share);
}

TEST_CASE("tally: without an error SQNR is infinite, without a signal minus infinite", "[verify]") {
  DistanceTally equal("y"), silent("y");
  equal.add("s", between({0, 0}, {0, 0}));
  silent.add("s", between({0, 0}, {1, 0}));
  CHECK(equal.result().sqnr_db == std::numeric_limits<double>::infinity());
  CHECK(equal.result().cosine_mean == 1);
  CHECK(equal.result().worst_sample.empty());
  CHECK(silent.result().sqnr_db == -std::numeric_limits<double>::infinity());
}

TEST_CASE("tally: one NaN makes the whole output's errors infinite and is counted", "[verify]") {
  DistanceTally tally("y");
  tally.add("s1", between({1, 2}, {1, 2}));
  tally.add("s2", between({1, 2}, {kNaN, 2}));
  const TensorDistance d = tally.result();
  CHECK(d.nonfinite == 1);
  CHECK(d.cosine_mean == 0.5);
  CHECK(d.worst_sample == "s2");
  CHECK(d.sqnr_db == -std::numeric_limits<double>::infinity());
  CHECK(std::isinf(d.mean_abs_error));
}

TEST_CASE("tally: samples that cannot be compared are counted, empty ones weigh nothing",
          "[verify]") {
  DistanceTally tally("y");
  tally.add("s1", measure_distance(float_tensor({1}, {1}), float_tensor({2}, {1, 2})));
  tally.add("s2", measure_distance(float_tensor({0}, {}), float_tensor({0}, {})));
  tally.add("s3", between({1, 0}, {1, 1}));
  const TensorDistance d = tally.result();
  CHECK(d.skipped == 1);
  CHECK(d.sample_count == 2);
  CHECK(d.value_count == 2);
  CHECK(d.cosine_mean == Approx(std::sqrt(0.5)));
}

TEST_CASE("tally: integer outputs give the share of equal values", "[verify]") {
  DistanceTally tally("y");
  tally.add("s1", measure_distance(int64_tensor({2}, {1, 2}), int64_tensor({2}, {1, 2})));
  tally.add("s2", measure_distance(int64_tensor({2}, {1, 2}), int64_tensor({2}, {1, 3})));
  REQUIRE(tally.result().equal_share);
  CHECK(*tally.result().equal_share == 0.75);
}

}  // namespace
}  // namespace qtool
