#include "inspect/regions.h"

#include "catch.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::vector<IntegerRegion> regions_of(const std::string& nodes) {
  const Model model = text_model(
      "agraph (float[1,2,4,4] x) => (float[1,2,4,4] y) <float s = {0.1}, uint8 z = {0}, "
      "int8[2,2,1,1] w = {1, 2, 3, 4}, int8 o = {0}> { v = DequantizeLinear (w, s, o) " +
      nodes + " }");
  return integer_regions(model);
}

std::string pair(const std::string& value) {
  return " " + value + "_q = QuantizeLinear (" + value + ", s, z) " + value +
         "_DequantizeLinear_Output = DequantizeLinear (" + value + "_q, s, z) ";
}

using Edges = std::vector<RegionValue>;

}  // namespace

TEST_CASE("regions: layers that hand on integers are one, from its inputs to its outputs",
          "[inspect]") {
  const auto regions = regions_of("i = Neg (x)" + pair("i") +
                                  "a = Conv (i_DequantizeLinear_Output, v) r = Relu (a)" +
                                  pair("r") + "b = Conv (r_DequantizeLinear_Output, v)" +
                                  pair("b") + "y = Neg (b_DequantizeLinear_Output)");
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].first == "a");
  CHECK(regions[0].last == "b");
  CHECK(regions[0].node_count == 2);
  CHECK(regions[0].inputs == Edges{{"i", "i_DequantizeLinear_Output"}});
  CHECK(regions[0].outputs == Edges{{"b", "b_DequantizeLinear_Output"}});
}

TEST_CASE("regions: a float node parts two", "[inspect]") {
  const auto regions = regions_of(pair("x") + "a = Conv (x_DequantizeLinear_Output, v)" +
                                  pair("a") + "t = Tanh (a_DequantizeLinear_Output)" + pair("t") +
                                  "b = Conv (t_DequantizeLinear_Output, v)" + pair("b") +
                                  "y = Neg (b_DequantizeLinear_Output)");
  REQUIRE(regions.size() == 2);
  CHECK(regions[0].inputs == Edges{{"x", "x_DequantizeLinear_Output"}});
  CHECK(regions[0].outputs == Edges{{"a", "a_DequantizeLinear_Output"}});
  CHECK(regions[1].inputs == Edges{{"t", "t_DequantizeLinear_Output"}});
}

TEST_CASE("regions: a value that both go on with is an output too", "[inspect]") {
  const auto regions =
      regions_of(pair("x") + "a = Conv (x_DequantizeLinear_Output, v)" + pair("a") +
                 "b = Conv (a_DequantizeLinear_Output, v)" + pair("b") +
                 "y = Max (a_DequantizeLinear_Output, b_DequantizeLinear_Output)");
  REQUIRE(regions.size() == 1);
  CHECK(regions[0].outputs ==
        Edges{{"a", "a_DequantizeLinear_Output"}, {"b", "b_DequantizeLinear_Output"}});
}
