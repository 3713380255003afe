#include "calibrate/sample_batch.h"

#include "base/error.h"
#include "catch.h"
#include "tensor_builder.h"

namespace qtool {
namespace {

using Catch::Matchers::Equals;
using Indices = std::vector<std::size_t>;
using testing::float_tensor;
using testing::int64_tensor;

SampleBatch single(std::size_t index, std::vector<NamedTensor> inputs) {
  return {
      {.name = "s_" + std::to_string(index), .inputs = std::move(inputs), .expected_outputs = {}},
      {index}};
}

SampleBatch pair(std::size_t index, float value) {
  return single(index, {{"x", float_tensor({1, 2}, {value, value + 1})}});
}

std::vector<Indices> joined(std::vector<SampleBatch> singles, const Batch& batch) {
  std::vector<Indices> out;
  for (const SampleBatch& each : join_samples(std::move(singles), batch))
    out.push_back(each.samples);
  return out;
}

TEST_CASE("batch: samples are joined along the first axis of every input", "[calibrate]") {
  const auto sample = [](std::size_t index, float x, std::int64_t ids) {
    return single(index, {{"x", float_tensor({1, 2}, {x, x})}, {"ids", int64_tensor({1}, {ids})}});
  };
  const auto out = join_samples({sample(3, 5, 7), sample(1, 6, 8)}, {.size = 2});
  REQUIRE(out.size() == 1);
  CHECK(out[0].samples == Indices{1, 3});
  CHECK(out[0].values.name == "s_3 and 1 more");
  const auto& inputs = out[0].values.inputs;
  CHECK(inputs[0].tensor.shape == std::vector<std::int64_t>{2, 2});
  CHECK(to_float32(inputs[0].tensor) == std::vector<float>{5, 5, 6, 6});
  CHECK(inputs[1].tensor.shape == std::vector<std::int64_t>{2});
  CHECK(to_float32(inputs[1].tensor) == std::vector<float>{7, 8});
}

TEST_CASE("batch: samples that differ in more than rows stay apart", "[calibrate]") {
  const auto wide = single(1, {{"x", float_tensor({1, 3}, {1, 2, 3})}});
  const auto of_ints = single(3, {{"x", int64_tensor({1, 2}, {1, 2})}});
  const auto scalar = single(4, {{"x", float_tensor({}, {1})}});
  const auto other_rows =
      single(5, {{"x", float_tensor({1}, {1})}, {"y", float_tensor({2}, {1, 2})}});
  CHECK(joined({pair(0, 1), wide, pair(2, 1), of_ints, scalar, scalar, other_rows, other_rows},
               {.size = 8}) == std::vector<Indices>{{0, 2}, {1}, {3}, {4}, {4}, {5}, {5}});
}

TEST_CASE("batch: an exact batch is filled and not overfilled", "[calibrate]") {
  const Batch exact{.size = 2, .is_exact = true};
  const auto full = single(1, {{"x", float_tensor({2, 2}, {1, 2, 3, 4})}});
  CHECK(joined({pair(0, 1), full, pair(2, 3)}, exact) == std::vector<Indices>{{0, 2}, {1}});
  REQUIRE_THROWS_WITH(joined({full, pair(2, 3)}, exact),
                      Equals("sample 's_2': the model takes batches of 2, found 1 of its shape to "
                             "join"));
}

}  // namespace
}  // namespace qtool
