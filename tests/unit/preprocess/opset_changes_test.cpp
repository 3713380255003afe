#include "preprocess/opset_changes.h"

#include <map>
#include <set>

#include <onnx/defs/schema.h>

#include "catch.h"

using namespace qtool;

TEST_CASE("every change of an operator between the opsets is known: as a row or as an extension",
          "[preprocess]") {
  std::map<std::string, std::set<int>> versions;
  for (const auto& schema : onnx::OpSchemaRegistry::get_all_schemas_with_history()) {
    if (schema.domain().empty()) versions[schema.Name()].insert(schema.SinceVersion());
  }
  REQUIRE(versions.size() > 100);
  for (const auto& [op_type, since] : versions) {
    for (const int opset : since) {
      if (opset == *since.begin() || opset <= kOldestOpset || opset > kNewestOpset) continue;
      CAPTURE(op_type, opset);
      CHECK((find_opset_change(op_type, opset) != nullptr) != is_extension(op_type, opset));
    }
  }
}

TEST_CASE("an operator that an opset does not change has no row there", "[preprocess]") {
  CHECK(find_opset_change("Softmax", 12) == nullptr);
  CHECK(find_opset_change("NoSuchOperator", 13) == nullptr);
  CHECK_FALSE(is_extension("Softmax", 13));
  CHECK_FALSE(is_extension("Relu", 13 + 1000));
}
