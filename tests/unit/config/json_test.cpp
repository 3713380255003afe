#include "config/json.h"

#include "catch.h"
#include "error_text.h"

namespace qtool {
namespace {

using testing::error_text;

JsonValue parsed(std::string_view text) { return parse_json(text, "c.json"); }
std::string fault(std::string_view text) {
  return error_text([&] { parse_json(text, "c.json"); });
}

TEST_CASE("json: every value knows its line", "[config]") {
  const JsonValue value = parsed("{\n  \"a\":\n  [1,\n   2.5], \"b\": {\"c\":\n\n null}\n}");
  CHECK(value.line == 1);
  CHECK(value.find("a")->line == 3);
  const auto& list = *value.find("a")->as<JsonValue::List>();
  CHECK(list[0].line == 3);
  CHECK(list[1].line == 4);
  CHECK(value.find("b")->find("c")->line == 6);
  CHECK(std::get<JsonValue::Object>(value.data)[0].line == 2);
}

TEST_CASE("json: a number at the end of a line belongs to that line", "[config]") {
  const JsonValue value = parsed("{\"a\": 1\n,\"b\": 1.5\n\n}");
  CHECK(value.find("a")->line == 1);
  CHECK(value.find("b")->line == 2);
}

TEST_CASE("json: comments and a byte order mark are allowed", "[config]") {
  const JsonValue value = parsed("\xEF\xBB\xBF// head\n{ /* two\nlines */ \"a\": true } // end");
  CHECK(*value.find("a")->as<bool>());
  CHECK(value.find("a")->line == 3);
}

TEST_CASE("json: integers stay integers as far as they fit", "[config]") {
  CHECK(*parsed("9223372036854775807").as<std::int64_t>() == 9223372036854775807);
  CHECK(*parsed("-5").as<std::int64_t>() == -5);
  CHECK(*parsed("9223372036854775808").as<double>() == 9223372036854775808.0);
  CHECK(*parsed("99999999999999999999").as<double>() == 1e20);
}

TEST_CASE("json: what is no JSON is refused with line and word", "[config]") {
  CHECK(fault("input = x") == "c.json:1: not JSON: unexpected 'input'");
  CHECK(fault("{\"a\": 1}\n}\n") == "c.json:2: not JSON: unexpected '}'");
  CHECK(fault("{\n\"a\": NaN}") ==
        "c.json:2: not JSON: unexpected 'NaN'\n  hint: JSON has only finite numbers");
  CHECK(fault("{\"a\": -Infinity}") ==
        "c.json:1: not JSON: unexpected '-Infinity'\n  hint: JSON has only finite numbers");
  CHECK(fault("{\"a\": True}") ==
        "c.json:1: not JSON: unexpected 'True'\n  hint: write true, false or null");
  CHECK(fault("{'a': 1}") ==
        "c.json:1: not JSON: unexpected '''\n  hint: write strings in double quotes");
  CHECK(fault("{\"a\": 1,\n}") ==
        "c.json:2: not JSON: unexpected '}'\n"
        "  hint: the comma before it does not belong there");
  CHECK(fault("[1 2]") == "c.json:1: not JSON: unexpected '2'");
  CHECK(fault("{\"a\" \"b\"}") == "c.json:1: not JSON: unexpected '\"b\"'");
  CHECK(fault("{\"a\" 1}") == "c.json:1: not JSON: unexpected '1'");
  CHECK(fault("{\"a\": 01}") == "c.json:1: not JSON: unexpected '1'");
  CHECK(fault("{\"a\": 1e400}") == "c.json:1: not JSON: the number is too large");
}

TEST_CASE("json: a text that ends too early says so", "[config]") {
  const std::string end =
      "c.json:2: not JSON: unexpected end of the text\n"
      "  hint: is a bracket, quote or comment not closed?";
  CHECK(fault("{\"a\": {\n\"b\": 1") == end);
  CHECK(fault("{\n\"a") == end);
  CHECK(fault("{\n\"a\": ") == end);
  CHECK(fault("{\n/* a") == end);
  CHECK(fault("") == "c.json: is empty, expected a JSON object");
  CHECK(fault(" \n") == "c.json: is empty, expected a JSON object");
}

TEST_CASE("json: bytes that are no text are refused", "[config]") {
  CHECK(fault("{\n\"a\": \"out\xff\xfe\"}") == "c.json:2: not JSON: a string is not UTF-8");
  CHECK(fault(std::string_view("{\n}\0{}", 6)) ==
        "c.json:2: not JSON: holds a NUL byte\n  hint: save the file as UTF-8");
  CHECK(fault("{\"a\": \"\x01\"}") == "c.json:1: not JSON: a string holds a control character");
  CHECK(fault("{\"a\": \"x\n\"}") == "c.json:1: not JSON: a string holds a control character");
}

TEST_CASE("json: a name given twice is refused with both lines", "[config]") {
  CHECK(fault("{\"a\": {\n\"b\": 1,\n\"c\": 2,\n\"b\": 3}}") ==
        "c.json:4: a.b: given twice, first on line 2\n  hint: remove one of the two");
  CHECK_NOTHROW(parsed("{\"a\": {\"b\": 1}, \"c\": {\"b\": 2}}"));
  CHECK_NOTHROW(parsed("[{\"b\": 1}, {\"b\": 2}]"));
}

TEST_CASE("json: a text nested without end is refused", "[config]") {
  CHECK(fault(std::string(100000, '[')) == "c.json:1: nested more than 64 deep");
  CHECK_NOTHROW(parsed(std::string(64, '[') + std::string(64, ']')));
}

TEST_CASE("json: a value is written as it was read", "[config]") {
  const std::string text = "{\"z\":[1,2.5,-0.001,\"\xC3\xA4\",null],\"a\":{\"b\":true}}";
  CHECK(to_compact_json(parsed(text)) == text);
  CHECK(to_json_text(parsed("{\"b\": [1], \"a\": 65504.0}")) ==
        "{\n  \"b\": [\n    1\n  ],\n  \"a\": 65504\n}\n");
}

TEST_CASE("json: what was found is said in a word", "[config]") {
  CHECK(found_text(parsed("[1]")) == "a list");
  CHECK(found_text(parsed("{}")) == "an object");
  CHECK(found_text(parsed("\"a\\u0007b\"")) == "'a\\x07b'");
  CHECK(found_text(parsed("2048.5")) == "2048.5");
  CHECK(found_text(parsed("null")) == "null");
}

}  // namespace
}  // namespace qtool
