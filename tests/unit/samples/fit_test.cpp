#include "samples/fit.h"

#include <cmath>

#include "catch.h"
#include "samples.h"
#include "tensor_builder.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

using Shape = std::vector<std::int64_t>;

std::string refusal(ElementType type, const Shape& shape, const TensorInfo& info) {
  return failure_of([&] { require_fit(type, shape, info, "f"); });
}

}  // namespace

TEST_CASE("a shape fits as it is, or with the batch axis of 1 that it lacks", "[samples]") {
  const auto [found, wanted, fitted] = GENERATE(table<Shape, Shape, Shape>({
      {{2, 4}, {2, 4}, {2, 4}},
      {{7, 4}, {-1, 4}, {7, 4}},
      {{0, 4}, {-1, 4}, {0, 4}},
      {{4}, {-1, 4}, {1, 4}},
      {{4}, {1, 4}, {1, 4}},
      {{3, 5, 5}, {-1, 3, -1, -1}, {1, 3, 5, 5}},
      {{}, {}, {}},
      {{}, {1}, {1}},
      {{}, {-1}, {1}},
  }));
  const TensorInfo info = input("x", ElementType::Bool, wanted);
  CHECK(refusal(ElementType::Bool, found, info) == "no error");
  CHECK(fit({ElementType::Bool, found, {}}, info, false, "f").shape == fitted);
}

TEST_CASE("a shape of another rank or size is refused", "[samples]") {
  const auto [found, wanted, text] = GENERATE(table<Shape, Shape, std::string>({
      {{1, 5}, {-1, 4}, "1x5, expected float32[?,4]"},
      {{1, 2, 2, 4}, {-1, 4}, "1x2x2x4, expected float32[?,4]"},
      {{4}, {2, 4}, "4, expected float32[2,4]"},
      {{1}, {}, "1, expected float32[]"},
      {{}, {-1, -1}, "scalar, expected float32[?,?]"},
      {{5}, {-1, 4}, "5, expected float32[?,4]"},
      {{1, 1, 4}, {-1, 4}, "1x1x4, expected float32[?,4]"},
  }));
  CHECK(refusal(ElementType::Float, found, input("x", ElementType::Float, wanted)) ==
        "exit 3: f: input 'x': found float32 of shape " + text);
}

TEST_CASE("free axes are called by their names", "[samples]") {
  CHECK(refusal(ElementType::Float, {1, 5}, input("x", ElementType::Float, {-1, 4}, {"N", ""})) ==
        "exit 3: f: input 'x': found float32 of shape 1x5, expected float32[N,4]");
}

TEST_CASE("a type that would lose values is refused", "[samples]") {
  CHECK(refusal(ElementType::Float, {3}, input("ids", ElementType::Int64, {-1})) ==
        "exit 3: f: input 'ids': found float32 of shape 3, expected int64[?] | only casts without "
        "loss are made, and float64 "
        "to float32");
  CHECK(refusal(ElementType::String, {1}, input("x", ElementType::Float, {-1}))
            .starts_with("exit 3: f: input 'x': found string"));
  CHECK(refusal(ElementType::String, {1}, input("x", ElementType::String, {-1})) ==
        "exit 3: f: input 'x' takes strings, which samples cannot hold");
}

TEST_CASE("values are cast to the input's type", "[samples]") {
  const Tensor out = fit(make_tensor_of<std::int32_t>(ElementType::Int32, {2}, {-1, 7}),
                         input("ids", ElementType::Int64, {2}), false, "f");
  CHECK(out.type == ElementType::Int64);
  CHECK(out.int64s()[0] == -1);
  CHECK(out.int64s()[1] == 7);
}

TEST_CASE("bools are 0 or 1, whatever byte a file has for true", "[samples]") {
  const Tensor bools = make_tensor_of<std::uint8_t>(ElementType::Bool, {4}, {0, 1, 2, 255});
  const Tensor same = fit(bools, input("x", ElementType::Bool, {4}), false, "f");
  CHECK(to_float32(same) == std::vector<float>{0, 1, 1, 1});
  CHECK(to_float32(fit(bools, input("x", ElementType::Float, {4}), false, "f")) ==
        std::vector<float>{0, 1, 1, 1});
}

TEST_CASE("a value that is not finite is named with its index", "[samples]") {
  const TensorInfo info = input("x", ElementType::Float, {1, 4});
  const auto refusal_of = [&](const Tensor& values) {
    return failure_of([&] { fit(values, info, false, "f"); });
  };
  const std::string rest = ", expected finite values | --allow-nonfinite takes samples as they are";
  CHECK(refusal_of(make_tensor_of<float>(ElementType::Float, {1, 4}, {0, 1, NAN, INFINITY})) ==
        "exit 3: f: value 2 of input 'x' is nan" + rest);
  CHECK(refusal_of(make_tensor_of<float>(ElementType::Float, {1, 4}, {0, 1, 2, -INFINITY})) ==
        "exit 3: f: value 3 of input 'x' is -inf" + rest);
  CHECK(refusal_of(make_tensor_of<double>(ElementType::Double, {1, 4}, {0, INFINITY, 2, 3})) ==
        "exit 3: f: value 1 of input 'x' is inf" + rest);
  CHECK(refusal_of(make_tensor_of<double>(ElementType::Double, {4}, {0, 1, 2, -1e300})) ==
        "exit 3: f: value 3 of input 'x' is -1e+300, beyond the range of float32");
  const TensorInfo complex = input("z", ElementType::Complex64, {1});
  CHECK(failure_of([&] {
          fit(make_tensor_of<float>(ElementType::Complex64, {1}, {0, NAN}), complex, false, "f");
        }) == "exit 3: f: value 0 of input 'z' is not finite" + rest);
}

TEST_CASE("values that are not finite pass where they are allowed", "[samples]") {
  const TensorInfo info = input("x", ElementType::Float, {2});
  CHECK(fit(make_tensor_of<float>(ElementType::Float, {2}, {NAN, INFINITY}), info, true, "f")
            .floats()[1] == INFINITY);
  CHECK(fit(make_tensor_of<double>(ElementType::Double, {2}, {0, 1e300}), info, true, "f")
            .floats()[1] == INFINITY);
}
