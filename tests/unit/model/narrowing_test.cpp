#include "model/narrowing.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "catch.h"
#include "model/narrowed_tensor.h"
#include "model/reference.h"
#include "model/save.h"
#include "temp_dir.h"
#include "tensor_builder.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::vector<float> narrowed(const std::vector<float>& values, const Narrowing& narrowing) {
  const Tensor tensor{.type = narrowing.type,
                      .shape = {static_cast<std::int64_t>(values.size())},
                      .bytes = narrow(std::as_bytes(std::span(values)), narrowing)};
  return to_float32(tensor);
}

constexpr Narrowing kHalf{ElementType::Float16, 5.96e-8, 65504};
constexpr float kInfinite = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("narrowing: what is too large or too small for the type is clamped, infinity is kept",
          "[model]") {
  const std::vector<float> found =
      narrowed({1e6F, -70000, 1e-12F, -1e-12F, 0, kInfinite, -kInfinite, 0.1F}, kHalf);
  CHECK(found == std::vector<float>{65504, -65504, 0x1p-24F, -0x1p-24F, 0, kInfinite, -kInfinite,
                                    0x1.998p-4F});
  CHECK(std::isnan(narrowed({std::numeric_limits<float>::quiet_NaN()}, kHalf)[0]));
}

TEST_CASE("narrowing: bfloat16 has float32's range and no limit", "[model]") {
  CHECK(narrowed({1e38F, 1e-30F, 1.00390625F}, {ElementType::BFloat16, 0, 0}) ==
        std::vector<float>{0x1.2cp+126F, 0x1.44p-100F, 1.0F});
}

TEST_CASE("narrowing: values that are clamped are counted", "[model]") {
  const std::vector<float> values{1e6F, -70000, 1e-12F, 3, kInfinite, 0};
  const ClampedValues found = clamped_values(std::as_bytes(std::span(values)), kHalf);
  CHECK(found.above == 2);
  CHECK(found.below == 1);
  CHECK(found.largest == 1e6);
}

TEST_CASE("narrowing: a tensor in a file is converted when it is written", "[model]") {
  const TempDir dir;
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(17);
  auto& graph = *proto.mutable_graph();
  graph.set_name("g");
  // Over several pieces, and not a multiple of one.
  std::vector<float> values(600001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 4000) - 2000;
  const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
  *graph.add_initializer() = make_float_tensor("w", ElementType::Float, shape, values);
  auto& output = *graph.add_output();
  output.set_name("w");
  auto& type = *output.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_value(shape[0]);
  PendingModel(Model(proto), dir / "in.onnx", {}).commit();

  for (const auto mode : {ExternalDataOptions::Mode::Never, ExternalDataOptions::Mode::Always}) {
    Model model = load_model(dir / "in.onnx");
    auto& tensor = *model.graph().mutable_initializer(0);
    REQUIRE(reference_of(tensor));
    set_narrowed(tensor, kHalf);
    model.graph().mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
        onnx::TensorProto::FLOAT16);
    CHECK((to_float32(model.tensor(tensor)) == values));
    CHECK_THROWS(model.tensor_bytes(tensor));
    Model finished = model.clone();
    finish_narrowing(finished);
    CHECK((to_float32(finished.tensor(finished.graph().initializer(0))) == values));
    CHECK_FALSE(reference_of(finished.graph().initializer(0)));
    const auto path = dir / "out.onnx";
    PendingModel(model, path, {.mode = mode, .file_name = {}}).commit();
    const Model written = load_model(path);
    CHECK(element_type(written.graph().initializer(0)) == ElementType::Float16);
    CHECK((to_float32(written.tensor(written.graph().initializer(0))) == values));
  }
}
