#include "model/attributes.h"

#include "catch.h"
#include "model/model.h"

using namespace qtool;

TEST_CASE("an attribute is added once and changes its value and type in place", "[model]") {
  onnx::NodeProto node;
  set_int(node, "a", 3);
  set_float(node, "b", 0.5F);
  set_string(node, "a", "text");
  REQUIRE(node.attribute_size() == 2);
  CHECK(node.attribute(0).type() == onnx::AttributeProto::STRING);
  CHECK_FALSE(node.attribute(0).has_i());
  CHECK(string_attribute(node, "a", "") == "text");
  CHECK(float_attribute(node, "b", 0) == 0.5F);
  drop_attribute(node, "a");
  CHECK(find_attribute(node, "a") == nullptr);
}

TEST_CASE("an attribute may be given a part of itself", "[model]") {
  onnx::NodeProto node;
  set_ints(node, "perm", std::vector<std::int64_t>{2, 0, 1});
  const auto& own = node.attribute(0).ints();
  set_ints(node, node.attribute(0).name(), std::span(own.data(), 2));
  CHECK(node.attribute(0).name() == "perm");
  CHECK(std::vector<std::int64_t>(own.begin(), own.end()) == std::vector<std::int64_t>{2, 0});
}
