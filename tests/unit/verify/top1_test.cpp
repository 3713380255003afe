#include "verify/top1.h"

#include <limits>

#include "catch.h"
#include "tensor_builder.h"

namespace qtool {
namespace {

using namespace testing;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

TEST_CASE("top1: every row of [N,C] names its largest score, the first of equals", "[verify]") {
  const auto classes = classes_of(float_tensor({3, 3}, {0, 2, 1, 5, 5, 4, -1, -kInf, -2}));
  REQUIRE(classes);
  CHECK(*classes == Classes{1, 0, 0});
}

TEST_CASE("top1: one vector of scores is one row", "[verify]") {
  CHECK(classes_of(float_tensor({3}, {0, 1, 2})) == Classes{2});
}

TEST_CASE("top1: axes of size 1 behind the classes do not count", "[verify]") {
  CHECK(classes_of(float_tensor({2, 2, 1, 1}, {0, 1, 1, 0})) == Classes{1, 0});
}

TEST_CASE("top1: NaN never wins, and a row of nothing else names no class", "[verify]") {
  const auto classes = classes_of(float_tensor({2, 2}, {kNaN, 1, kNaN, kNaN}));
  CHECK(classes == Classes{1, std::nullopt});
}

TEST_CASE("top1: integer values of [N] are the classes, integer rows are scores", "[verify]") {
  CHECK(classes_of(int64_tensor({2}, {7, 3})) == Classes{7, 3});
  CHECK(classes_of(int64_tensor({}, {4})) == Classes{4});
  CHECK(classes_of(int64_tensor({2, 1}, {7, 3})) == Classes{7, 3});
  CHECK(classes_of(int64_tensor({1, 3}, {0, 9, 3})) == Classes{1});
}

TEST_CASE("top1: maps, single numbers and bools name no class", "[verify]") {
  CHECK_FALSE(classes_of(float_tensor({1, 2, 2}, {0, 1, 2, 3})));
  CHECK_FALSE(classes_of(float_tensor({3, 1}, {0, 1, 2})));
  CHECK_FALSE(classes_of(float_tensor({}, {1})));
  CHECK_FALSE(classes_of(make_tensor_of<std::uint8_t>(ElementType::Bool, {2}, {0, 1})));
}

TEST_CASE("top1: agreement and accuracy are shares of rows", "[verify]") {
  const Tensor reference = float_tensor({4, 2}, {1, 0, 0, 1, 1, 0, 1, 0});
  const Tensor other = float_tensor({4, 2}, {1, 0, 1, 0, 1, 0, 1, 0});
  const Top1 top1 = to_top1(count_top1(reference, other, 0), true);
  CHECK(top1.row_count == 4);
  CHECK(top1.agreement == 0.75);
  CHECK(top1.reference_accuracy == 0.75);
  CHECK(top1.accuracy == 1.0);
  CHECK(top1.drop == -0.25);
}

TEST_CASE("top1: rows without a class agree with nothing", "[verify]") {
  const Tensor broken = float_tensor({1, 2}, {kNaN, kNaN});
  CHECK(count_top1(broken, broken, std::nullopt).agreeing == 0);
  CHECK(count_top1(broken, broken, std::nullopt).rows == 1);
}

TEST_CASE("top1: outputs with different numbers of rows count nothing", "[verify]") {
  CHECK(count_top1(float_tensor({1, 2}, {0, 1}), float_tensor({2, 2}, {0, 1, 0, 1}), 1).rows == 0);
}

TEST_CASE("top1: without rows there are no shares", "[verify]") {
  const Top1 top1 = to_top1({}, true);
  CHECK_FALSE(top1.agreement);
  CHECK_FALSE(top1.accuracy);
  CHECK_FALSE(top1.drop);
}

TEST_CASE("top1: a loss of one row in a hundred is a drop of exactly 0.01", "[verify]") {
  const Top1 by_label =
      to_top1({.rows = 100, .agreeing = 99, .reference_right = 97, .right = 96}, true);
  CHECK(by_label.drop == 0.01);
  CHECK(to_top1({.rows = 100, .agreeing = 99}, false).drop == 0.01);
}

}  // namespace
}  // namespace qtool
