#include "model/reference.h"

#include "catch.h"
#include "error_text.h"

using namespace qtool;
using qtool::testing::error_text;

TEST_CASE("reference: is read back as it was set, and takes the place of values", "[model]") {
  onnx::TensorProto tensor;
  tensor.set_raw_data("abcd");
  CHECK_FALSE(reference_of(tensor));
  set_reference(tensor, {.file = 3, .offset = 17, .length = 4096});
  CHECK_FALSE(tensor.has_raw_data());
  set_reference(tensor, {.file = 12, .offset = 1, .length = 5000000000});
  const auto read = reference_of(tensor);
  REQUIRE(read);
  CHECK(read->file == 12);
  CHECK(read->offset == 1);
  CHECK(read->length == 5000000000);
}

TEST_CASE("reference: a foreign location is a defect, not a file", "[model]") {
  onnx::TensorProto tensor;
  tensor.set_name("w");
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  CHECK(error_text([&] { reference_of(tensor); }) ==
        "tensor 'w' refers to a file that is not the model's");
}
