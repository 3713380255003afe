#include "runtime/values.h"

#include "base/error.h"
#include "catch.h"
#include "tensor_builder.h"

namespace qtool {

using Catch::Matchers::Equals;

TEST_CASE("a tensor passes to ONNX Runtime and back unchanged, whatever its type", "[runtime]") {
  for (const auto type : {ElementType::Float, ElementType::UInt8, ElementType::Int8,
                          ElementType::Int32, ElementType::Int64, ElementType::Bool,
                          ElementType::Float16, ElementType::Double, ElementType::BFloat16}) {
    CAPTURE(element_type_name(type));
    Tensor tensor{type, {2, 3}, std::vector<std::byte>(packed_bytes(type, 6), std::byte{1})};
    const NamedTensor named{"x", tensor};
    const Tensor back = copy_of(view_of(named), "x");
    CHECK(back.type == type);
    CHECK(back.shape == tensor.shape);
    CHECK(back.bytes == tensor.bytes);
  }
}

TEST_CASE("strings cannot be passed", "[runtime]") {
  const NamedTensor named{"words", {ElementType::String, {1}, {}}};
  CHECK_THROWS_WITH(view_of(named), Equals("input 'words': has type string, expected numbers"));
}

}  // namespace qtool
