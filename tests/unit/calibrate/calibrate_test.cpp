#include "calibrate/calibrate.h"

#include <limits>

#include "base/error.h"
#include "calibrate/estimate.h"
#include "catch.h"
#include "memory_samples.h"
#include "text_model.h"

namespace qtool {
namespace {

using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using Names = std::vector<std::string>;

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

TEST_CASE("joined samples have the statistics of single ones", "[calibrate]") {
  const Model model = testing::text_model(kModel);
  const auto samples = ramp(101);
  const auto single = collect(model, Names{"x", "y"}, samples, 1, {});
  CHECK(single.run_count == 101);
  Collection joined{.tensors = {"x", "y"},
                    .kind = StatisticsKind::Distribution,
                    .samples = all_samples(samples),
                    .batch = {.size = 4}};
  for (const int threads : {1, 3}) {
    joined.threads = threads;
    const auto found = collect_statistics(model, joined, samples, {});
    CHECK(found.samples == single.samples);
    CHECK(found.run_count == 26);
    for (const auto& [name, statistics] : found.statistics) {
      const TensorStatistics& expected = single.statistics.at(name);
      CHECK(statistics.min.value == expected.min.value);
      CHECK(statistics.max.value == expected.max.value);
      CHECK(statistics.value_count == expected.value_count);
      CHECK(statistics.zero_count == expected.zero_count);
      CHECK(statistics.sketch == expected.sketch);
    }
  }
}

TEST_CASE("extremes of samples and channels are kept where they are asked for", "[calibrate]") {
  const Model model = testing::text_model("g (float[2, C] x) => (float[2, C] y) { y = Neg (x) }");
  const MemorySamples samples(
      {testing::float_tensor({2, 2}, {1, 2, 3, 4}), testing::float_tensor({2, 2}, {-5, 0, 7, 6})});
  for (const int threads : {1, 2}) {
    const Collection wanted{.tensors = {"x", "y"},
                            .keeps_sample_extremes = true,
                            .keeps_channel_extremes = true,
                            .samples = all_samples(samples),
                            .threads = threads};
    const auto found = collect_statistics(model, wanted, samples, {});
    CHECK(found.statistics.at("y").sample_extremes ==
          std::vector<SampleExtremes>{{0, -4, -1}, {1, -7, 5}});
    const auto channels = found.channel_extremes.at("x").channels();
    REQUIRE(channels.size() == 2);
    CHECK((channels[0].min == -5 && channels[0].max == 7));
    CHECK((channels[1].min == 0 && channels[1].max == 6));
  }
  const auto without = collect(model, Names{"x"}, samples, 1);
  CHECK(without.statistics.at("x").sample_extremes.empty());
  CHECK(without.channel_extremes.empty());
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

TEST_CASE("tensors with infinity beside other values get no range, unless that is allowed",
          "[calibrate]") {
  const Model model = testing::text_model("g (float[N] x) => (float[N] y) { y = Log (x) }");
  const auto result = collect(model, Names{"y"}, MemorySamples({row({0, 1})}), 1, {});
  CHECK(estimate_ranges(result.statistics, {}, {}, 1).empty());
  CalibrationConfig allowing;
  allowing.allow_nonfinite = true;
  CHECK(estimate_ranges(result.statistics, allowing, {}, 1) == TensorRanges{{"y", Range{0, 0}}});
}

TEST_CASE("tensors without a finite value get no range", "[calibrate]") {
  const Model model = testing::text_model("g (float[N] x) => (float[N] y) { y = Sqrt (x) }");
  const auto result = collect(model, Names{"x", "y"}, MemorySamples({row({-1}), row({-4})}), 1, {});
  const auto ranges = estimate_ranges(result.statistics, {}, {}, 1);
  CHECK(ranges == TensorRanges{{"x", Range{-4, -1}}});
}

}  // namespace qtool
