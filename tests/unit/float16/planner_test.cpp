#include "float16/planner.h"

#include <algorithm>

#include "base/error.h"
#include "catch.h"
#include "converted.h"
#include "error_text.h"
#include "float16/check_names.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

const std::string kChain =
    "agraph (float[2] x) => (float[2] y) { [first] a = Relu (x) [second] b = Exp (a) y = Relu (b) "
    "}";

std::vector<std::string> left_nodes(const std::string& text, const Float16Config& config) {
  std::vector<std::string> out;
  for (const FloatNode& node : plan_float16(typed_model(text), config).left)
    out.push_back(node.node);
  return out;
}

}  // namespace

TEST_CASE("float16: nodes are blocked by name, by expression and by type", "[float16]") {
  Float16Config config;
  config.node_block_list = {"second"};
  CHECK(left_nodes(kChain, config) == std::vector<std::string>{"second"});
  config.node_block_list = {"/^(fir|sec)/"};
  CHECK(left_nodes(kChain, config) == std::vector<std::string>{"first", "second"});
  config.node_block_list.clear();
  config.op_block_list = {"Exp"};
  CHECK(left_nodes(kChain, config) == std::vector<std::string>{"second"});
}

TEST_CASE("float16: the built-in list holds where there is none, and not where it is empty",
          "[float16]") {
  const std::string text =
      "agraph (float[2] x) => (float[2] y) <int64 axis = {0}> { [sum] y = CumSum (x, axis) }";
  Float16Config config;
  CHECK(left_nodes(text, config) == std::vector<std::string>{"sum"});
  config.op_block_list.emplace();
  CHECK(left_nodes(text, config).empty());
}

TEST_CASE("float16: a name that the model lacks is an error that names the nearest", "[float16]") {
  Float16Config config;
  config.node_block_list = {"secnd"};
  CHECK(error_text([&] { check_float16_names(typed_model(kChain), config); }) ==
        "float16.node_block_list: 'secnd' is no node of the model\n  hint: did you mean 'second'?");
  config.node_block_list.clear();
  config.keep_io_types = {.all = false, .names = {"x", "z"}};
  CHECK_THROWS_AS(check_float16_names(typed_model(kChain), config), Error);
}

TEST_CASE("float16: nodes that are kept by number stay in float32", "[float16]") {
  const Model model = typed_model(kChain);
  const ModelIndex index(model);
  const auto all = convertible_nodes(index, plan_float16(model, {}));
  CHECK(all == std::vector<int>{0, 1, 2});
  const Float16Plan plan = plan_float16(model, {}, {1});
  REQUIRE(plan.left.size() == 1);
  CHECK(plan.left[0].node == "second");
  CHECK(plan.casts_added == 4);
}

TEST_CASE("float16: clamped values are listed by tensor", "[float16]") {
  const Float16Plan plan = plan_float16(
      typed_model("agraph (float[3] x) => (float[3] y) <float[3] w = {70000, -8e4, 1e-12}, "
                  "float[3] v = {1, 2, 3}> { a = Add (x, w) y = Add (a, v) }"),
      {});
  REQUIRE(plan.clamped.size() == 1);
  CHECK(plan.clamped[0].name == "w");
  CHECK(plan.clamped[0].values.above == 2);
  CHECK(plan.clamped[0].values.below == 1);
  CHECK(plan.clamped[0].values.largest == 80000);
}

TEST_CASE("float16: a value whose type nobody says has that of its group", "[float16]") {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"custom\" : 1]> agraph (float[2] x) => (float[2] "
      "y) { a = custom.Op (x) y = Add (a, x) }";
  const Float16Plan plan = plan_float16(text_model(text), {});
  CHECK(to_text(plan).find("a float32, cast to float16") != std::string::npos);
}
