#include "quantize/masks.h"

#include <array>

#include "catch.h"
#include "quantize/params.h"

namespace qtool {
namespace {

QuantParams params_of(const Range& range, ElementType type) {
  const ScaleAndZero found = scale_and_zero(range, {.type = type});
  return {.type = type, .scales = {found.scale}, .zero_points = {found.zero_point}};
}

std::string obstacle(const Range& range, ElementType type = ElementType::UInt8) {
  return obstacle_by_mask(range, params_of(range, type));
}

TEST_CASE("masks: a range that leaves its positive values no step holds one", "[quantize]") {
  CHECK(obstacle({-1e9F, 12}) == "holds a mask: beside -1e+09 all other values would become 0");
  CHECK(obstacle({-10000, 12}) == "holds a mask: beside -10000 all other values would become 0");
  CHECK(obstacle({-3.4e38F, 12}, ElementType::Int16) ==
        "holds a mask: beside -3.4e+38 all other values would become 0");
}

TEST_CASE("masks: a range of one sign, or one that holds steps for both, has none", "[quantize]") {
  CHECK(obstacle({-1e9F, 0}).empty());
  CHECK(obstacle({-4000, 1}).empty());
  CHECK(obstacle({-10000, 100}).empty());
  CHECK(obstacle({-10000, 12}, ElementType::Int16).empty());
  CHECK(obstacle({-0.1F, 1e9F}).empty());
}

TEST_CASE("masks: a constant of nothing but 0 and one value is exact", "[quantize]") {
  const auto params = params_of({-1e9F, 0}, ElementType::UInt8);
  CHECK(obstacle_by_mask(std::array{0.0F, -1e9F}, params).empty());
  CHECK(obstacle_by_mask(std::span<const float>(), params).empty());
  CHECK(obstacle_by_mask(std::array{0.0F, -1e9F, -0.5F}, params) ==
        "holds a mask: beside -1e+09 all other values would become 0");
}

}  // namespace
}  // namespace qtool
