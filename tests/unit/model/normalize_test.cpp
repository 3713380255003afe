#include "model/normalize.h"

#include <cstring>
#include <string>
#include <vector>

#include "catch.h"
#include "error_text.h"
#include "model/model.h"

using namespace qtool;
using qtool::testing::error_text;

namespace {

onnx::TensorProto tensor(int data_type, std::initializer_list<std::int64_t> dims) {
  onnx::TensorProto out;
  out.set_name("w");
  out.set_data_type(data_type);
  for (const std::int64_t dim : dims) out.add_dims(dim);
  return out;
}

template <typename T>
std::vector<T> normalized(onnx::TensorProto tensor) {
  normalize_tensor(tensor, {}, "m.onnx");
  CHECK(tensor.float_data_size() + tensor.int32_data_size() + tensor.int64_data_size() +
            tensor.double_data_size() + tensor.uint64_data_size() ==
        0);
  std::vector<T> out(tensor.raw_data().size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), tensor.raw_data().data(), tensor.raw_data().size());
  return out;
}

std::string refusal(onnx::TensorProto tensor) {
  return error_text([&] { normalize_tensor(tensor, {}, "m.onnx"); });
}

using onnx::TensorProto;

}  // namespace

TEST_CASE("normalize: each typed field becomes raw_data", "[model]") {
  auto floats = tensor(TensorProto::FLOAT, {2});
  floats.add_float_data(1.5f);
  floats.add_float_data(-2);
  CHECK(normalized<float>(floats) == std::vector<float>{1.5f, -2});

  auto complex = tensor(TensorProto::COMPLEX128, {1});
  complex.add_double_data(3);
  complex.add_double_data(4);
  CHECK(normalized<double>(complex) == std::vector<double>{3, 4});

  auto longs = tensor(TensorProto::INT64, {1});
  longs.add_int64_data(-7);
  CHECK(normalized<std::int64_t>(longs) == std::vector<std::int64_t>{-7});

  auto words = tensor(TensorProto::UINT32, {2});
  words.add_uint64_data(1);
  words.add_uint64_data(4294967295u);
  CHECK(normalized<std::uint32_t>(words) == std::vector<std::uint32_t>{1, 4294967295u});
}

TEST_CASE("normalize: int32_data holds every narrow type", "[model]") {
  auto halves = tensor(TensorProto::FLOAT16, {2});
  halves.add_int32_data(0x3C00);
  halves.add_int32_data(0xC000);
  CHECK(normalized<std::uint16_t>(halves) == std::vector<std::uint16_t>{0x3C00, 0xC000});

  auto small = tensor(TensorProto::INT8, {3});
  for (const int value : {-128, -1, 127}) small.add_int32_data(value);
  CHECK(normalized<std::int8_t>(small) == std::vector<std::int8_t>{-128, -1, 127});

  auto bools = tensor(TensorProto::BOOL, {2});
  bools.add_int32_data(1);
  bools.add_int32_data(0);
  CHECK(normalized<std::uint8_t>(bools) == std::vector<std::uint8_t>{1, 0});
}

TEST_CASE("normalize: 4-bit elements come two to an entry, 6-bit elements one", "[model]") {
  auto nibbles = tensor(TensorProto::INT4, {3});
  nibbles.add_int32_data(0x21);
  nibbles.add_int32_data(0x0F);
  CHECK(normalized<std::uint8_t>(nibbles) == std::vector<std::uint8_t>{0x21, 0x0F});

  auto sixes = tensor(static_cast<int>(ElementType::Float6E2M3), {4});
  for (const int code : {8, 31, 1, 63}) sixes.add_int32_data(code);
  CHECK(normalized<std::uint8_t>(sixes) ==
        std::vector<std::uint8_t>{0b11001000, 0b00010111, 0b11111100});
}

TEST_CASE("normalize: a tensor without elements needs no values", "[model]") {
  CHECK(normalized<float>(tensor(TensorProto::FLOAT, {0, 4})).empty());
  auto full = tensor(TensorProto::FLOAT, {0});
  full.add_float_data(1);
  CHECK(refusal(full) == "m.onnx: tensor 'w': has values, expected none by its shape");
}

TEST_CASE("normalize: strings stay strings", "[model]") {
  auto strings = tensor(TensorProto::STRING, {2});
  strings.add_string_data("a");
  CHECK(refusal(strings) ==
        "m.onnx: tensor 'w': string_data has 1 values, expected 2 by its shape and type");
  strings.add_string_data("b");
  CHECK(refusal(strings).empty());
  strings.set_raw_data("xx");
  CHECK(refusal(strings) == "m.onnx: tensor 'w': values of string are not in string_data");
}

TEST_CASE("normalize: sizes that do not fit are refused with both", "[model]") {
  auto raw = tensor(TensorProto::FLOAT, {2, 3});
  CHECK(refusal(raw) ==
        "m.onnx: tensor 'w': has no values, expected 24 bytes by its shape and type");
  raw.set_raw_data(std::string(20, '\0'));
  CHECK(refusal(raw) ==
        "m.onnx: tensor 'w': raw_data has 20 bytes, expected 24 by its shape and type");
  raw.add_float_data(1);
  CHECK(refusal(raw) == "m.onnx: tensor 'w': has values in more than one field");
  raw.clear_raw_data();
  CHECK(refusal(raw) ==
        "m.onnx: tensor 'w': float_data has 1 values, expected 6 by its shape and type");
  raw.clear_float_data();
  raw.add_int64_data(1);
  CHECK(refusal(raw) == "m.onnx: tensor 'w': values of float32 are not in float_data");
}

TEST_CASE("normalize: impossible shapes and types are refused", "[model]") {
  CHECK(refusal(tensor(TensorProto::FLOAT, {-4, 8})) ==
        "m.onnx: tensor 'w': impossible shape -4x8");
  constexpr std::int64_t kBig = std::int64_t{1} << 32;
  CHECK(refusal(tensor(TensorProto::FLOAT, {kBig, kBig})) ==
        "m.onnx: tensor 'w': impossible shape 4294967296x4294967296");
  CHECK(refusal(tensor(TensorProto::FLOAT, {kBig, 0, kBig, kBig})) ==
        "m.onnx: tensor 'w': impossible shape 4294967296x0x4294967296x4294967296");
  CHECK(refusal(tensor(TensorProto::DOUBLE, {kBig, kBig / 4})) ==
        "m.onnx: tensor 'w': impossible shape 4294967296x1073741824");
  CHECK(refusal(tensor(77, {1})) == "m.onnx: tensor 'w': unknown data type 77");
  CHECK(refusal(tensor(0, {1})) == "m.onnx: tensor 'w': has no data type");
  auto segment = tensor(TensorProto::FLOAT, {1});
  segment.mutable_segment()->set_begin(0);
  CHECK(refusal(segment) == "m.onnx: tensor 'w': is stored in segments, which nothing supports");
}

TEST_CASE("normalize: a tensor without a name is told by its node", "[model]") {
  onnx::NodeProto node;
  node.set_name("c");
  node.set_op_type("Constant");
  auto& attribute = *node.add_attribute();
  attribute.set_name("value");
  auto value = tensor(77, {1});
  value.clear_name();
  CHECK(error_text([&] {
          normalize_tensor(value, {.node = &node, .attribute = &attribute}, "m.onnx");
        }) == "m.onnx: attribute 'value' of node 'c' (Constant): unknown data type 77");
}
