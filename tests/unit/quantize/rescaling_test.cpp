#include "quantize/rescaling.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::optional<Rescaling> rescaling_of(const std::string& node, const std::string& constant) {
  const Model model =
      text_model("agraph (float[1,2] x) => (float[1,2] y) <" + constant + "> { y = " + node + " }");
  const GraphView graph(model.graph());
  return rescaling_at({graph.node(0), graph, model, 17});
}

QuantParams steps_of(float scale, std::int32_t zero_point) {
  return {.type = ElementType::UInt8, .scales = {scale}, .zero_points = {zero_point}};
}

}  // namespace

TEST_CASE("rescaling: a number that multiplies, divides or is added", "[quantize]") {
  CHECK(rescaling_of("Mul (x, c)", "float c = {2}")->factor == 2);
  CHECK(rescaling_of("Mul (c, x)", "float[1] c = {2}")->slot == 1);
  CHECK(rescaling_of("Div (x, c)", "float[1,1] c = {4}")->factor == 0.25);
  CHECK(rescaling_of("Add (c, x)", "float c = {3}")->offset == 3);
  CHECK(rescaling_of("Sub (x, c)", "float c = {3}")->offset == -3);
}

TEST_CASE("rescaling: what turns values round, widens them or differs is none", "[quantize]") {
  CHECK_FALSE(rescaling_of("Mul (x, c)", "float c = {-2}"));
  CHECK_FALSE(rescaling_of("Mul (x, c)", "float c = {0}"));
  CHECK_FALSE(rescaling_of("Sub (c, x)", "float c = {3}"));
  CHECK_FALSE(rescaling_of("Div (c, x)", "float c = {3}"));
  CHECK_FALSE(rescaling_of("Mul (x, c)", "float[2] c = {2, 3}"));
  CHECK_FALSE(rescaling_of("Mul (x, c)", "float[1,1,1] c = {2}"));
  CHECK_FALSE(rescaling_of("Mul (x, x)", "float c = {2}"));
}

TEST_CASE("rescaling: a factor goes into the scale", "[quantize]") {
  const auto params = rescaled(steps_of(0.5F, 7), {.factor = 0.25});
  REQUIRE(params);
  CHECK(params->scales.front() == 0.125F);
  CHECK(params->zero_points.front() == 7);
  CHECK_FALSE(rescaled(steps_of(1e-30F, 7), {.factor = 1e-30}));
}

TEST_CASE("rescaling: an addend of whole steps goes into the zero point", "[quantize]") {
  CHECK(rescaled(steps_of(0.5F, 7), {.offset = 3})->zero_points.front() == 1);
  CHECK(rescaled(steps_of(0.5F, 7), {.offset = -3})->zero_points.front() == 13);
  CHECK_FALSE(rescaled(steps_of(0.5F, 7), {.offset = 3.2}));
  CHECK_FALSE(rescaled(steps_of(0.5F, 7), {.offset = 4}));
}

TEST_CASE("rescaling: a scale is widened until an addend is whole steps", "[quantize]") {
  const float finest = 4.0F / 255;
  const auto params = with_whole_offset(steps_of(finest, 64), {-1, 3}, 0.5);
  REQUIRE(params);
  CHECK(params->scales.front() == Approx(0.5 / 31));
  CHECK(rescaled(*params, {.offset = 0.5})->zero_points.front() ==
        params->zero_points.front() - 31);
  CHECK_FALSE(with_whole_offset(steps_of(finest, 64), {-1, 3}, 0.001));
  CHECK_FALSE(with_whole_offset(steps_of(finest, 64), {-1, 3}, 100));
  CHECK_FALSE(with_whole_offset(steps_of(finest, 64), {-1, 3}, 0));
}
