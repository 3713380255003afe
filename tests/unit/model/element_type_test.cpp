#include "model/element_type.h"

#include <onnx/onnx_pb.h>

#include "catch.h"

using namespace qtool;

TEST_CASE("element types: every type that ONNX numbers is known, and no other number", "[model]") {
  for (int number = -2; number < 40; ++number) {
    const bool is_onnx = number > 0 && onnx::TensorProto::DataType_IsValid(number);
    // An older ONNX lacks the last of them.
    if (number > 0 && number <= onnx::TensorProto::DataType_MAX)
      CHECK(is_known(static_cast<ElementType>(number)) == is_onnx);
  }
  CHECK_FALSE(is_known(ElementType::Undefined));
  CHECK_FALSE(is_known(static_cast<ElementType>(-1)));
  CHECK_FALSE(is_known(static_cast<ElementType>(77)));
}

TEST_CASE("element types: small elements are packed without gaps", "[model]") {
  CHECK(packed_bytes(ElementType::Float, 3) == 12);
  CHECK(packed_bytes(ElementType::Int4, 5) == 3);
  CHECK(packed_bytes(ElementType::UInt2, 5) == 2);
  CHECK(packed_bytes(ElementType::Float6E2M3, 4) == 3);
  CHECK(packed_bytes(ElementType::Complex128, 2) == 32);
  CHECK(packed_bytes(ElementType::String, 7) == 0);
}

TEST_CASE("element types: a name for messages, also for a number that is none", "[model]") {
  CHECK(element_type_name(ElementType::Float) == "float32");
  CHECK(element_type_name(ElementType::Float8E4M3FN) == "float8e4m3fn");
  CHECK(element_type_name(static_cast<ElementType>(77)) == "unknown");
}
