#include "samples/npy_header.h"

#include "catch.h"
#include "npy_writer.h"
#include "samples.h"
#include "string_stream.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

NpyHeader header_of(const std::string& content) {
  StringStream stream(content);
  return read_npy_header(stream);
}

std::string refusal(const std::string& content) {
  return failure_of([&] { header_of(content); });
}

}  // namespace

TEST_CASE("npy header: every way in which NumPy writes a dictionary is read", "[samples]") {
  const std::string text =
      GENERATE("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
               "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                    \n",
               "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<f4\"}",
               "  {'fortran_order' : False ,\t'shape' : ( 2 , 3 , ) , 'descr' : '<f4'}\r\n",
               "{'descr': '<f4', 'fortran_order': False, 'shape': (2L, 3L)}",
               "{'descr': 'f4', 'fortran_order': False, 'shape': (2,3)}",
               "{'descr': '=f4', 'fortran_order': False, 'shape': (2,3)}");
  const NpyHeader header = parse_npy_header(text, "f");
  CHECK(header.kind == 'f');
  CHECK(header.element_bytes == 4);
  CHECK_FALSE(header.is_big_endian);
  CHECK_FALSE(header.is_fortran_order);
  CHECK(header.shape == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("npy header: order, byte order and rank are told", "[samples]") {
  const NpyHeader header =
      parse_npy_header("{'descr': '>i8', 'fortran_order': True, 'shape': (5,)}", "f");
  CHECK(header.dtype == ">i8");
  CHECK(header.kind == 'i');
  CHECK(header.element_bytes == 8);
  CHECK(header.is_big_endian);
  CHECK(header.is_fortran_order);
  CHECK(header.shape == std::vector<std::int64_t>{5});
  CHECK(
      parse_npy_header("{'descr': '|b1', 'fortran_order': True, 'shape': ()}", "f").shape.empty());
}

TEST_CASE("npy header: versions 1 to 3 are read, with their length fields", "[samples]") {
  const int version = GENERATE(1, 2, 3);
  StringStream stream(npy_of({.version = version}, "body"));
  CHECK(read_npy_header(stream).shape == std::vector<std::int64_t>{1, 4});
  CHECK(stream.remaining() == 4);
}

TEST_CASE("npy header: a text that is no such dictionary is refused and shown", "[samples]") {
  const std::string text = GENERATE(
      "", "{", "}", "{}", "{'descr': '<f4', 'fortran_order': False}",
      "['descr', '<f4', False, (1, 4)]", "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4)",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4)} x",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), 'more': 1}",
      "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1, 4)}",
      "{'descr': '<f4', 'fortran_order': 0, 'shape': (1, 4)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': [1, 4]}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1 4)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': ('1',)}",
      "{descr: '<f4', 'fortran_order': False, 'shape': (1, 4)}",
      "{'descr': <f4, 'fortran_order': False, 'shape': (1, 4)}",
      "{'descr' '<f4', 'fortran_order': False, 'shape': (1, 4)}",
      "{'descr': '<f4',, 'fortran_order': False, 'shape': (1, 4)}");
  CHECK(failure_of([&] { parse_npy_header(text, "f"); }) ==
        "exit 3: f: broken .npy header '" + text +
            "', expected a dictionary of 'descr', 'fortran_order' and 'shape'");
}

TEST_CASE("npy header: bytes that are no text are shown as such, and cut", "[samples]") {
  const std::string text = std::string("{'descr'\0", 9) + std::string(1000, '\xff');
  const std::string message = failure_of([&] { parse_npy_header(text, "f"); });
  CHECK(message.find("f: broken .npy header '{'descr'\\x00\\xff\\xff") != std::string::npos);
  CHECK(message.size() < 400);
}

TEST_CASE("npy header: sizes below zero or beyond 64 bits are refused", "[samples]") {
  const auto [shape, found] = GENERATE(table<std::string, std::string>(
      {{"(-1, 4)", "-1"},
       {"(4, -9223372036854775808)", "-9223372036854775808"},
       {"(99999999999999999999999999, 4)", "99999999999999999999999999"}}));
  CHECK(refusal(npy_of({.shape = shape}, "")) ==
        "exit 3: f: impossible size " + found + " in the shape of the .npy header");
}

TEST_CASE("npy header: dtypes that are no numbers are refused by name", "[samples]") {
  const auto [descr, found] = GENERATE(table<std::string, std::string>({
      {"'|O'", "Python objects"},
      {"'O'", "Python objects"},
      {"[('a', '<f4'), ('b', '<f4')]", "a structure"},
      {"'<q99'", "'<q99'"},
      {"'<f16'", "'<f16'"},
      {"'<f3'", "'<f3'"},
      {"'<f'", "'<f'"},
      {"'<f99999999999999999999999'", "'<f99999999999999999999999'"},
      {"'<f-4'", "'<f-4'"},
      {"'<f4 '", "'<f4 '"},
      {"'f'", "'f'"},
      {"''", "nothing"},
      {"'<'", "nothing"},
      {"'|S4'", "'|S4'"},
      {"'<U4'", "'<U4'"},
      {"'<M8[ns]'", "'<M8[ns]'"},
      {"'|b4'", "'|b4'"},
      {"'<i0'", "'<i0'"},
      {"'<c4'", "'<c4'"},
      {"'|V3'", "'|V3'"},
      {"'float32'", "'float32'"},
  }));
  CHECK(refusal(npy_of({.descr = descr}, "")) ==
        "exit 3: f: dtype is " + found + ", expected numbers or bool");
}

TEST_CASE("npy header: what comes before the dictionary is checked", "[samples]") {
  const std::string sound = npy_of({}, "");
  CHECK(refusal("") == "exit 3: f: is not an .npy file: has 0 bytes");
  CHECK(refusal(sound.substr(0, 9)) == "exit 3: f: is not an .npy file: has 9 bytes");
  CHECK(refusal("\x93NUMPX" + sound.substr(6)) ==
        "exit 3: f: is not an .npy file, expected it to start with \\x93NUMPY");
  CHECK(refusal(npy_of({.version = 4}, "")) ==
        "exit 3: f: is .npy version 4.0, expected 1.0, 2.0 or 3.0");
  CHECK(refusal(npy_of({.version = 0}, "")) ==
        "exit 3: f: is .npy version 0.0, expected 1.0, 2.0 or 3.0");
  CHECK(refusal(sound.substr(0, 7) + "\1" + sound.substr(8)) ==
        "exit 3: f: is .npy version 1.1, expected 1.0, 2.0 or 3.0");
  CHECK(refusal(npy_of({.version = 2, .header_length = 4294967295}, "")) ==
        "exit 3: f: .npy header of 4294967295 bytes, expected at most 60");
  CHECK(refusal(npy_of({.header_length = 61}, "")) ==
        "exit 3: f: .npy header of 61 bytes, expected at most 60");
  CHECK(refusal(npy_of({.version = 2, .header_length = 65536}, std::string(70000, ' '))) ==
        "exit 3: f: .npy header of 65536 bytes, expected at most 65535");
  CHECK(refusal(npy_of({.header_length = 0}, "")) ==
        "exit 3: f: broken .npy header '', expected a dictionary of 'descr', 'fortran_order' and "
        "'shape'");
}

TEST_CASE("npy header: a file of 10 bytes has no room for the longer length field", "[samples]") {
  CHECK(refusal(std::string("\x93NUMPY\2\0\0\0", 10)) == "exit 3: f: ends early");
}
