#include "quantize/integer_forms.h"

#include <algorithm>

#include "catch.h"
#include "quantize/op_rules.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

onnx::NodeProto node_of(const std::string& text) {
  return text_proto("agraph (float[2,3] x) => (float[2,3] y) { " + text + " }").graph().node(0);
}

TensorPlan tensor_of(ElementType type, std::optional<std::int64_t> axis = {}) {
  TensorPlan plan;
  plan.params.type = type;
  plan.params.axis = axis;
  return plan;
}

/// Why a MatMul of tensors of these types has no integer form.
std::string matmul_obstacle(const TensorPlan& a, const TensorPlan& b, const TensorPlan& y) {
  const onnx::NodeProto node = node_of("y = MatMul (x, x)");
  const NodeForm form{.node = 0, .inputs = {0, 1}, .outputs = {2}};
  const std::vector<TensorPlan> tensors{a, b, y};
  return form_obstacle(*find_integer_form("MatMul", ""), node, form, tensors);
}

}  // namespace

TEST_CASE("integer forms: each belongs to an operator of the table", "[quantize]") {
  for (const IntegerForm& form : integer_forms()) {
    CAPTURE(form.op_type);
    CHECK(find_rule(placement_for(Preset::Cpu), form.op_type, form.domain) != nullptr);
    CHECK(find_integer_form(form.op_type, form.domain) == &form);
  }
  CHECK(find_integer_form("LayerNormalization", "") == nullptr);
  CHECK(find_integer_form("Conv", "com.example") == nullptr);
}

TEST_CASE("integer forms: Softmax is told its opset, and its axis where the default was another",
          "[quantize]") {
  const IntegerForm& form = *find_integer_form("Softmax", "");
  const auto old = integer_node(form, node_of("y = Softmax (x)"), 12);
  CHECK(old.op_type() == "QLinearSoftmax");
  CHECK(old.domain() == "com.microsoft");
  CHECK(int_attribute(old, "opset", 0) == 12);
  CHECK(int_attribute(old, "axis", -7) == 1);
  const auto recent = integer_node(form, node_of("y = Softmax (x)"), 13);
  CHECK(int_attribute(recent, "axis", -7) == -7);
  const auto given = integer_node(form, node_of("y = Softmax <axis: int = 0> (x)"), 12);
  CHECK(int_attribute(given, "axis", -7) == 0);
}

TEST_CASE("integer forms: attributes that an integer operator lacks are left out", "[quantize]") {
  const auto gemm = integer_node(
      *find_integer_form("Gemm", ""),
      node_of("y = Gemm <alpha: float = 2.0, beta: float = 3.0, transB: int = 1> (x, x)"), 17);
  CHECK(float_attribute(gemm, "alpha", 0) == 2.0F);
  CHECK(int_attribute(gemm, "transB", 0) == 1);
  CHECK(find_attribute(gemm, "beta") == nullptr);
}

TEST_CASE("integer forms: the kernels take one type of activations, and weights that go with it",
          "[quantize]") {
  const auto u8 = tensor_of(ElementType::UInt8);
  const auto s8 = tensor_of(ElementType::Int8);
  CHECK(matmul_obstacle(u8, s8, u8).empty());
  CHECK(matmul_obstacle(u8, tensor_of(ElementType::Int8, 1), u8).empty());
  CHECK(matmul_obstacle(s8, s8, s8).empty());
  CHECK(matmul_obstacle(s8, u8, s8) == "int8 activations do not go with uint8 weights");
  CHECK(matmul_obstacle(u8, s8, s8) == "its tensors have several types");
  CHECK(matmul_obstacle(tensor_of(ElementType::UInt16), s8, u8) ==
        "integer operators take 8 bits, not uint16");
  CHECK(matmul_obstacle(tensor_of(ElementType::UInt8, 0), s8, u8) ==
        "integer operators take one scale per activation");
}

TEST_CASE("integer forms: dilations, cubic interpolation and alpha 0 have none", "[quantize]") {
  const auto obstacle = [](const std::string& text) {
    const onnx::NodeProto node = node_of(text);
    return form_obstacle(*find_integer_form(node.op_type(), ""), node, {}, {});
  };
  CHECK(obstacle("y = AveragePool <kernel_shape: ints = [1], dilations: ints = [2]> (x)") ==
        "QLinearAveragePool has no dilations");
  CHECK(obstacle("y = AveragePool <kernel_shape: ints = [1], dilations: ints = [1]> (x)").empty());
  CHECK(obstacle("y = Resize <mode: string = \"cubic\"> (x)") ==
        "cubic interpolation needs floats");
  CHECK(obstacle("y = Gemm <alpha: float = 0.0> (x, x)") == "alpha is no factor of a scale");
}
