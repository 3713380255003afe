#include "calibrate/tensorrt_cache.h"

#include "catch.h"
#include "error_text.h"

namespace qtool {

TEST_CASE("TensorRT table: a line per tensor by name, with the largest magnitude", "[calibrate]") {
  CHECK(tensorrt_cache({{"b", {-11.6F, 5.4F}}, {"a/1:0", {0, 0.1F}}, {"c", {-0.0F, 0}}}) ==
        "a/1:0 0.1\nb 11.6\nc 0\n");
  CHECK(tensorrt_cache({}).empty());
}

TEST_CASE("TensorRT table: digits are those that give the same float again", "[calibrate]") {
  const float value = 0.1F + 0.2F;
  const std::string text = tensorrt_cache({{"x", {0, value}}});
  CHECK(std::stof(text.substr(2)) == value);
}

TEST_CASE("TensorRT table: a name with white space has no place", "[calibrate]") {
  CHECK(testing::failure_of([] {
          tensorrt_cache({{"a b", {0, 1}}});
        }) ==
        "exit 3: tensor 'a b': its name has white space, expected none in a table for TensorRT");
}

}  // namespace qtool
