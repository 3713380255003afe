#include "report/json_object.h"

#include <limits>

#include "catch.h"

namespace qtool {
namespace {

TEST_CASE("json object: members keep their order and types", "[report]") {
  const JsonValue json = JsonObject()
                             .add("text", "a\"b")
                             .add("count", std::size_t{3})
                             .add("yes", true)
                             .add("share", 0.5)
                             .add("path", std::filesystem::path("a/b"))
                             .add("nothing", std::optional<double>())
                             .add("words", std::vector<std::string>{"x", "y"})
                             .take();
  CHECK(
      to_compact_json(json) ==
      R"({"text":"a\"b","count":3,"yes":true,"share":0.5,"path":"a/b","nothing":null,"words":["x","y"]})");
}

TEST_CASE("json object: numbers that JSON lacks are strings or null", "[report]") {
  using Limits = std::numeric_limits<double>;
  CHECK(to_compact_json(to_json(Limits::infinity())) == "\"Infinity\"");
  CHECK(to_compact_json(to_json(-Limits::infinity())) == "\"-Infinity\"");
  CHECK(to_compact_json(to_json(Limits::quiet_NaN())) == "null");
}

TEST_CASE("json object: bytes that are no UTF-8 are replaced", "[report]") {
  CHECK(to_compact_json(to_json(std::string("a\xff"))) == "\"a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace qtool
