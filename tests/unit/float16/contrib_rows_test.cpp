#include "float16/contrib_rows.h"

#include "catch.h"

using namespace qtool;

TEST_CASE("contrib types: operators are found in ONNX Runtime's domain and in ONNX's",
          "[float16]") {
  REQUIRE(find_contrib_types("com.microsoft", "BiasGelu") != nullptr);
  REQUIRE(find_contrib_types("", "SimplifiedLayerNormalization") != nullptr);
  CHECK(find_contrib_types("com.other", "BiasGelu") == nullptr);
  CHECK(find_contrib_types("com.microsoft", "QLinearAdd") == nullptr);
}
