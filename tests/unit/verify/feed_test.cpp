#include "verify/feed.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "catch.h"
#include "tensor_builder.h"

namespace qtool {
namespace {

using namespace testing;

std::uint16_t code_of(float value, ElementType type) {
  const Tensor cast = cast_floating(float_tensor({1}, {value}), type);
  std::uint16_t code = 0;
  REQUIRE(cast.bytes.size() == sizeof(code));
  std::memcpy(&code, cast.bytes.data(), sizeof(code));
  return code;
}

TensorInfo info(std::string name, ElementType type) {
  TensorInfo out;
  out.name = std::move(name);
  out.type = type;
  return out;
}

TEST_CASE("feed: float16 is rounded to nearest even", "[verify]") {
  const auto half = [](float value) { return code_of(value, ElementType::Float16); };
  CHECK(half(1) == 0x3C00);
  CHECK(half(-2.5f) == 0xC100);
  CHECK(half(-0.0f) == 0x8000);
  CHECK(half(1 + 1.0f / 2048) == 0x3C00);  // half way to the next: even below
  CHECK(half(1 + 3.0f / 2048) == 0x3C02);  // half way: even above
  CHECK(half(1.9999f) == 0x4000);          // carries into the exponent
  CHECK(half(65504) == 0x7BFF);
  CHECK(half(65520) == 0x7C00);  // half way beyond the largest
  CHECK(half(1e30f) == 0x7C00);
  CHECK(half(-std::numeric_limits<float>::infinity()) == 0xFC00);
  CHECK(half(std::ldexp(1.0f, -24)) == 0x0001);  // smallest subnormal
  CHECK(half(std::ldexp(1.0f, -25)) == 0x0000);
  CHECK(half(std::ldexp(1023.0f, -24)) == 0x03FF);
  CHECK((half(std::numeric_limits<float>::quiet_NaN()) & 0x7FFF) == 0x7E00);
}

TEST_CASE("feed: every float16 value survives the way to float32 and back", "[verify]") {
  for (unsigned code = 0; code < 0x10000; ++code) {
    if ((code & 0x7C00) == 0x7C00 && (code & 0x3FF) != 0) continue;
    const Tensor half = make_tensor_of<std::uint16_t>(ElementType::Float16, {1},
                                                      {static_cast<std::uint16_t>(code)});
    if (code_of(to_float32(half)[0], ElementType::Float16) != code) FAIL(code);
  }
  SUCCEED();
}

TEST_CASE("feed: bfloat16 keeps the upper half, rounded", "[verify]") {
  CHECK(code_of(1, ElementType::BFloat16) == 0x3F80);
  CHECK(code_of(1 + 1.0f / 256, ElementType::BFloat16) == 0x3F80);
  CHECK(code_of(3.4e38f, ElementType::BFloat16) == 0x7F80);
  CHECK(code_of(1e-40f, ElementType::BFloat16) == 0x0001);
}

TEST_CASE("feed: a sample is cast to the type that the model takes, under its name", "[verify]") {
  const std::vector<TensorInfo> sample_inputs = {info("x", ElementType::Float),
                                                 info("ids", ElementType::Int64)};
  const std::vector<TensorInfo> model_inputs = {info("ids", ElementType::Int64),
                                                info("x_half", ElementType::Float16)};
  // `x_half` stands at the position of `ids`, which goes to the input of that name too.
  CHECK_THROWS_AS(Feed(sample_inputs, model_inputs, "m.onnx"), Error);

  const std::vector<TensorInfo> in_order = {info("x_half", ElementType::Float16),
                                            info("ids", ElementType::Int64)};
  const std::vector<NamedTensor> sample = {{"x", float_tensor({1}, {0.5f})},
                                           {"ids", int64_tensor({1}, {3})}};
  const auto fed = Feed(sample_inputs, in_order, "m.onnx")(sample);
  REQUIRE(fed.size() == 2);
  CHECK(fed[0].name == "x_half");
  CHECK(fed[0].tensor.type == ElementType::Float16);
  CHECK(to_float32(fed[0].tensor)[0] == 0.5f);
  CHECK(fed[1].name == "ids");
  CHECK(fed[1].tensor.int64s()[0] == 3);
}

TEST_CASE("feed: an input that the samples cannot fill is named", "[verify]") {
  const std::vector<TensorInfo> sample_inputs = {info("x", ElementType::Float)};
  const auto message = [&](const std::vector<TensorInfo>& model_inputs) -> std::string {
    try {
      Feed feed(sample_inputs, model_inputs, "m.onnx");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Input);
      return error.what();
    }
    return {};
  };
  CHECK(message({info("x", ElementType::Float), info("mask", ElementType::Bool)}) ==
        "m.onnx: takes input 'mask', expected inputs of the reference: x");
  CHECK(message({info("x", ElementType::UInt8)}) ==
        "m.onnx: input 'x' has type uint8, expected float32 as in the reference");
}

}  // namespace
}  // namespace qtool
