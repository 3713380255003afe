#include "calibrate/calibrate.h"

#include <limits>

#include "base/error.h"
#include "calibrate/estimate.h"
#include "catch.h"
#include "tensor_builder.h"
#include "text_model.h"

namespace qtool {
namespace {

using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using Names = std::vector<std::string>;

/// Samples of `x` in memory.
class MemorySamples : public SampleFolder {
 public:
  explicit MemorySamples(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {}
  std::size_t size() const override { return tensors_.size(); }
  const std::string& name(std::size_t) const override { return name_; }
  Sample read(std::size_t index) const override {
    return {.name = "s_" + std::to_string(index),
            .inputs = {{"x", tensors_[index]}},
            .expected_outputs = {}};
  }
  std::string sha256() const override { return {}; }
  std::string sha256_of(std::size_t) const override { return {}; }
  std::uint64_t bytes(std::size_t) const override { return 0; }

 private:
  std::vector<Tensor> tensors_;
  std::string name_;
};

Tensor row(const std::vector<float>& values) {
  return testing::float_tensor({static_cast<std::int64_t>(values.size())}, values);
}

MemorySamples ramp(std::size_t count) {
  std::vector<Tensor> out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(i * 37 % count);
    out.push_back(row(std::vector<float>(1 + i % 5, 0.1F * value - 3)));
  }
  return MemorySamples(std::move(out));
}

CalibrationResult collect(const Model& model, const Names& tensors, const SampleFolder& samples,
                          int threads, const Progress& progress = {}) {
  const Collection collection{.tensors = tensors,
                              .kind = StatisticsKind::Distribution,
                              .samples = all_samples(samples),
                              .threads = threads};
  return collect_statistics(model, collection, samples, progress);
}

constexpr const char* kModel = R"(g (float[N] x) => (float[N] y) {
  a = Relu (x)
  y = Neg (a)
})";

}  // namespace

TEST_CASE("statistics cover all samples, also of different shapes", "[calibrate]") {
  const Model model = testing::text_model(kModel);
  const MemorySamples samples({row({1, -2}), row({}), row({5, 0, 7})});
  const auto result = collect(model, Names{"x", "a", "y"}, samples, 1, {});
  CHECK(result.samples == std::vector<std::size_t>{0, 1, 2});
  CHECK(result.statistics.at("x").min.value == -2);
  CHECK(result.statistics.at("a").min.value == 0);
  CHECK(result.statistics.at("y").min.value == -7);
  CHECK(result.statistics.at("x").value_count == 5);
}

TEST_CASE("the result is the same on any number of threads", "[calibrate]") {
  const Model model = testing::text_model(kModel);
  const auto samples = ramp(101);
  const auto one = collect(model, Names{"x", "y"}, samples, 1, {});
  for (const int threads : {2, 3, 8}) {
    CHECK(collect(model, Names{"x", "y"}, samples, threads, {}).statistics == one.statistics);
  }
}

TEST_CASE("progress counts every sample once and ends with all", "[calibrate]") {
  const Model model = testing::text_model(kModel);
  std::vector<std::size_t> done;
  collect(model, Names{"a"}, ramp(20), 4, [&](std::size_t count, std::size_t total) {
    CHECK(total == 20);
    done.push_back(count);
  });
  REQUIRE(done.size() == 20);
  CHECK(std::is_sorted(done.begin(), done.end()));
  CHECK(done.back() == 20);
}

TEST_CASE("a run that fails names the sample", "[calibrate]") {
  const Model model = testing::text_model(
      "g (float[N] x) => (float[N] y) <float[2] w = {1, 2}> { y = Mul (x, w) }");
  const MemorySamples samples({row({1, 2}), row({1, 2, 3})});
  CHECK_THROWS_WITH(collect(model, Names{"y"}, samples, 1, {}),
                    StartsWith("sample 's_1': model: ONNX Runtime cannot run it: "));
}

TEST_CASE("no sample gives no statistics", "[calibrate]") {
  const Model model = testing::text_model(kModel);
  const auto result = collect(model, Names{"a"}, MemorySamples({}), 2, {});
  CHECK(result.statistics.at("a").value_count == 0);
  CHECK(estimate_ranges(result.statistics, {}, {}, 1).empty());
}

TEST_CASE("tensors without a finite value get no range", "[calibrate]") {
  const Model model = testing::text_model("g (float[N] x) => (float[N] y) { y = Sqrt (x) }");
  const auto result = collect(model, Names{"x", "y"}, MemorySamples({row({-1}), row({-4})}), 1, {});
  const auto ranges = estimate_ranges(result.statistics, {}, {}, 1);
  CHECK(ranges == TensorRanges{{"x", Range{-4, -1}}});
}

}  // namespace qtool
