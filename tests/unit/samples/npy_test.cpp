#include "samples/npy.h"

#include <bit>
#include <limits>

#include "catch.h"
#include "npy_writer.h"
#include "samples.h"
#include "string_stream.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

const TensorInfo kAnything;

TensorInfo of_type(ElementType type) { return {"x", type, {}, {}, false}; }

Tensor read(const std::string& content, const TensorInfo& input = kAnything) {
  StringStream stream(content);
  return read_npy(stream, input);
}

std::string refusal(const std::string& content, const TensorInfo& input = kAnything) {
  return failure_of([&] { read(content, input); });
}

std::string hex(const Tensor& tensor) { return to_hex(tensor.bytes); }

}  // namespace

TEST_CASE("npy: every type of NumPy has its ONNX type", "[samples]") {
  const auto [descr, type] = GENERATE(table<std::string, ElementType>({
      {"'|b1'", ElementType::Bool},
      {"'|i1'", ElementType::Int8},
      {"'<i2'", ElementType::Int16},
      {"'<i4'", ElementType::Int32},
      {"'<i8'", ElementType::Int64},
      {"'|u1'", ElementType::UInt8},
      {"'<u2'", ElementType::UInt16},
      {"'<u4'", ElementType::UInt32},
      {"'<u8'", ElementType::UInt64},
      {"'<f2'", ElementType::Float16},
      {"'<f4'", ElementType::Float},
      {"'<f8'", ElementType::Double},
      {"'<c8'", ElementType::Complex64},
      {"'<c16'", ElementType::Complex128},
  }));
  const std::string body = "0123456789abcdefFEDCBA9876543210";
  const std::size_t width = element_bits(type) / 8;
  const Tensor tensor = read(npy_of({.descr = descr, .shape = "(2,)"}, body.substr(0, 2 * width)));
  CHECK(tensor.type == type);
  CHECK(tensor.shape == std::vector<std::int64_t>{2});
  CHECK(hex(tensor) == to_hex(std::as_bytes(std::span(body.data(), 2 * width))));
}

TEST_CASE("npy: bytes without a meaning take that of the input", "[samples]") {
  const auto [descr, body, type, bytes] =
      GENERATE(table<std::string, std::string, ElementType, std::string>({
          {"'<V2'", "\x80\x3f\x00\x40", ElementType::BFloat16, "803f0040"},
          {"'|V1'", "\x38\x40", ElementType::Float8E4M3FN, "3840"},
          {"'|V1'", "\x38\x40", ElementType::Float8E4M3FNUZ, "3840"},
          {"'|V1'", "\x38\x40", ElementType::Float8E5M2, "3840"},
          {"'<V1'", "\x38\x40", ElementType::Float8E5M2FNUZ, "3840"},
          {"'|V1'", "\x7f\x80", ElementType::Float8E8M0, "7f80"},
          {"'|V1'", "\x01\xfe\x07", ElementType::Int4, "e107"},
          {"'|V1'", "\x01\x0f\x07\x08", ElementType::UInt4, "f187"},
          {"'|V1'", "\x01\x02", ElementType::Float4E2M1, "21"},
          {"'|V1'", "\x01\xff\x02\xfe\x01", ElementType::Int2, "ad01"},
          {"'|V1'", "\x3f\x01\x02\x20\x15", ElementType::Float6E3M2, "7f208015"},
      }));
  const std::size_t width = descr[3] - '0';
  const std::string content = body == "\x80\x3f" ? std::string("\x80\x3f\x00\x40", 4) : body;
  const std::string shape = "(" + std::to_string(content.size() / width) + ",)";
  const Tensor tensor = read(npy_of({.descr = descr, .shape = shape}, content), of_type(type));
  CHECK(tensor.type == type);
  CHECK(hex(tensor) == bytes);
}

TEST_CASE("npy: bytes without a meaning are refused where the input gives none", "[samples]") {
  CHECK(refusal(npy_of({.descr = "'|V1'", .shape = "(1,)"}, "1"), of_type(ElementType::Int8)) ==
        "exit 3: f: input 'x': dtype '|V1' is bytes without a meaning, expected int8");
  CHECK(refusal(npy_of({.descr = "'|V2'", .shape = "(1,)"}, "12"),
                of_type(ElementType::Float8E5M2)) ==
        "exit 3: f: input 'x': dtype '|V2' is bytes without a meaning, expected float8e5m2");
  CHECK(refusal(npy_of({.descr = "'|V2'", .shape = "(1,)"}, "12"), of_type(ElementType::Float16)) ==
        "exit 3: f: input 'x': dtype '|V2' is bytes without a meaning, expected float16");
}

TEST_CASE("npy: big-endian values are turned, each part of a complex one by itself", "[samples]") {
  CHECK(hex(read(npy_of({.descr = "'>i4'", .shape = "(2,)"},
                        std::string("\0\0\0\1\0\0\0\2", 8)))) == "0100000002000000");
  CHECK(hex(read(npy_of({.descr = "'>f8'", .shape = "()"}, "12345678"))) == "3837363534333231");
  CHECK(hex(read(npy_of({.descr = "'>c8'", .shape = "(1,)"}, "12345678"))) == "3433323138373635");
  CHECK(hex(read(npy_of({.descr = "'>u1'", .shape = "(2,)"}, "12"))) == "3132");
}

TEST_CASE("npy: Fortran order becomes row-major order", "[samples]") {
  // The array [[[0,1],[2,3],[4,5]], [[6,7],[8,9],[10,11]]] as columns first.
  const std::vector<std::int16_t> stored = {0, 6, 2, 8, 4, 10, 1, 7, 3, 9, 5, 11};
  const Tensor tensor = read(
      npy_of({.descr = "'<i2'", .fortran_order = "True", .shape = "(2, 3, 2)"}, bytes_of(stored)));
  CHECK(tensor.shape == std::vector<std::int64_t>{2, 3, 2});
  CHECK(to_float32(tensor) == std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(hex(read(npy_of({.descr = "'|u1'", .fortran_order = "True", .shape = "(3,)"}, "abc"))) ==
        "616263");
  CHECK(hex(read(npy_of({.descr = "'|u1'", .fortran_order = "True", .shape = "()"}, "a"))) == "61");
  CHECK(hex(read(npy_of({.descr = "'>u2'", .fortran_order = "True", .shape = "(1, 2)"}, "abcd"))) ==
        "62616463");
  CHECK(hex(read(npy_of({.descr = "'|u1'", .fortran_order = "True", .shape = "(0, 3)"}, "")))
            .empty());
}

TEST_CASE("npy: an array larger than the buffer arrives whole", "[samples]") {
  std::vector<float> values(300'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const Tensor tensor = read(npy<float>({3, 100'000}, values));
  CHECK(std::vector<float>(tensor.floats().begin(), tensor.floats().end()) == values);
}

TEST_CASE("npy: an empty array has no values", "[samples]") {
  const Tensor tensor = read(npy<float>({0, 4}, {}));
  CHECK(tensor.shape == std::vector<std::int64_t>{0, 4});
  CHECK(tensor.bytes.empty());
}

TEST_CASE("npy: values and shape must agree to the byte", "[samples]") {
  CHECK(refusal(npy_of({}, std::string(15, ' '))) ==
        "exit 3: f: holds 15 bytes of values, expected 16 for shape 1x4 of dtype '<f4'");
  CHECK(refusal(npy_of({}, std::string(17, ' '))) ==
        "exit 3: f: holds 17 bytes of values, expected 16 for shape 1x4 of dtype '<f4'");
  CHECK(refusal(npy_of({.shape = "()"}, "")) ==
        "exit 3: f: holds 0 bytes of values, expected 4 for shape scalar of dtype '<f4'");
  CHECK(refusal(npy_of({.shape = "(1000000000, 1000000000)"}, "")) ==
        "exit 3: f: holds 0 bytes of values, expected 4000000000000000000 for shape "
        "1000000000x1000000000 of dtype '<f4'");
}

TEST_CASE("npy: shapes beyond any memory are refused", "[samples]") {
  const auto [shape, text] = GENERATE(table<std::string, std::string>({
      {"(4611686018427387904, 4)", "4611686018427387904x4"},
      {"(9223372036854775807,)", "9223372036854775807"},
      {"(4294967296, 4294967296, 0)", "4294967296x4294967296x0"},
  }));
  CHECK(refusal(npy_of({.shape = shape}, std::string(16, ' '))) ==
        "exit 3: f: impossible shape " + text + " in the .npy header");
}

TEST_CASE("npy: a size that is true but not there takes no memory", "[samples]") {
  // 8 TB of values that the stream claims to have.
  const std::string head = npy_of({.shape = "(2000000000000,)"}, "");
  StringStream stream(head, head.size() + 8'000'000'000'000);
  const std::string message = failure_of([&] { read_npy(stream, kAnything); });
  CHECK(message == "exit 3: f: values of 8.0 TB do not fit into memory");
}

TEST_CASE("npy: what does not fit the input is refused before its values are read", "[samples]") {
  CHECK(refusal(npy_of({.shape = "(1000000, 1000000)"}, ""),
                input("x", ElementType::Float, {-1, 4})) ==
        "exit 3: f: input 'x': found float32 of shape 1000000x1000000, expected float32[?,4]");
}
