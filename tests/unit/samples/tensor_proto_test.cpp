#include "samples/tensor_proto.h"

#include <onnx/onnx_pb.h>

#include "catch.h"
#include "npy_writer.h"
#include "samples.h"
#include "string_stream.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

const TensorInfo kAnything;

NamedTensor read(const onnx::TensorProto& tensor, const TensorInfo& info = kAnything) {
  StringStream stream(tensor.SerializeAsString());
  return read_tensor_proto(stream, info);
}

std::string refusal(const std::string& content, const TensorInfo& info = kAnything) {
  return failure_of([&] {
    StringStream stream(content);
    read_tensor_proto(stream, info);
  });
}

onnx::TensorProto row() {
  onnx::TensorProto tensor;
  tensor.set_name("any");
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(1);
  tensor.add_dims(2);
  tensor.set_raw_data(bytes_of<float>({1, 2}));
  return tensor;
}

}  // namespace

TEST_CASE("pb: raw and typed data are the same", "[samples]") {
  const NamedTensor raw = read(row());
  CHECK(raw.name == "any");
  CHECK(raw.tensor.shape == std::vector<std::int64_t>{1, 2});
  onnx::TensorProto typed = row();
  typed.clear_raw_data();
  typed.add_float_data(1);
  typed.add_float_data(2);
  CHECK(read(typed).tensor.bytes == raw.tensor.bytes);
  CHECK(to_float32(raw.tensor) == std::vector<float>{1, 2});
}

TEST_CASE("pb: each kind of typed data is read", "[samples]") {
  onnx::TensorProto tensor;
  tensor.add_dims(2);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_int64_data(-5);
  tensor.add_int64_data(6);
  CHECK(to_float32(read(tensor).tensor) == std::vector<float>{-5, 6});
  tensor.clear_int64_data();
  tensor.add_int32_data(200);
  tensor.add_int32_data(3);
  tensor.set_data_type(onnx::TensorProto::UINT8);
  CHECK(to_float32(read(tensor).tensor) == std::vector<float>{200, 3});
  tensor.set_data_type(onnx::TensorProto::FLOAT16);
  CHECK(read(tensor).tensor.bytes.size() == 4);
  tensor.clear_int32_data();
  tensor.add_double_data(0.5);
  tensor.add_double_data(2);
  tensor.set_data_type(onnx::TensorProto::DOUBLE);
  CHECK(to_float32(read(tensor).tensor) == std::vector<float>{0.5, 2});
}

TEST_CASE("pb: a tensor without values has none", "[samples]") {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.add_dims(0);
  CHECK(read(tensor).tensor.bytes.empty());
}

TEST_CASE("pb: bytes that are no TensorProto are refused", "[samples]") {
  const std::string sound = row().SerializeAsString();
  CHECK(refusal("") == "exit 3: f: tensor '': has no data type");
  CHECK(refusal(sound.substr(0, sound.size() - 3)) ==
        "exit 3: f: is not a TensorProto, or cut short");
  CHECK(refusal(std::string(100, '\xff')) == "exit 3: f: is not a TensorProto, or cut short");
  const std::string model =
      text_proto("agraph (float[N,2] x) => (float[N,2] y) { y = Relu (x) }").SerializeAsString();
  CHECK(refusal(model).starts_with("exit 3: f: "));
}

TEST_CASE("pb: type, shape and values must agree", "[samples]") {
  onnx::TensorProto tensor = row();
  tensor.set_dims(0, 3);
  CHECK(refusal(tensor.SerializeAsString()) ==
        "exit 3: f: tensor 'any': raw_data has 8 bytes, expected 24 by its shape and type");
  tensor.set_dims(0, -1);
  CHECK(refusal(tensor.SerializeAsString()) == "exit 3: f: tensor 'any': impossible shape -1x2");
  tensor.set_dims(0, std::int64_t{1} << 62);
  CHECK(refusal(tensor.SerializeAsString()) ==
        "exit 3: f: tensor 'any': impossible shape 4611686018427387904x2");
  tensor = row();
  tensor.set_data_type(99);
  CHECK(refusal(tensor.SerializeAsString()) == "exit 3: f: tensor 'any': unknown data type 99");
  tensor = row();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  CHECK(refusal(tensor.SerializeAsString()) ==
        "exit 3: f: refers to external data, expected the values inside");
}

TEST_CASE("pb: what does not fit the input is refused", "[samples]") {
  const TensorInfo info = input("x", ElementType::Float, {-1, 4});
  CHECK(refusal(row().SerializeAsString(), info) ==
        "exit 3: f: input 'x': found float32 of shape 1x2, expected float32[?,4]");
  onnx::TensorProto strings;
  strings.set_data_type(onnx::TensorProto::STRING);
  strings.add_dims(1);
  strings.add_dims(4);
  for (const char* const text : {"a", "b", "c", "d"}) strings.add_string_data(text);
  CHECK(refusal(strings.SerializeAsString(), info) ==
        "exit 3: f: input 'x': found string of shape 1x4, expected float32[?,4] | only casts "
        "without loss are made, and "
        "float64 to float32");
}
