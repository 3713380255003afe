#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "model/graph_view.h"
#include "quantize/dynamic/lowering.h"
#include "quantize/dynamic/planner.h"
#include "quantize/dynamic/rules.h"
#include "quantize/dynamic/weight_store.h"
#include "run_model.h"
#include "temp_dir.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Model quantized(const std::string& text, const QuantizationConfig& config = {}) {
  Model model = text_model(text);
  DynamicPlan plan = plan_dynamic(model, config);
  return lower_dynamic(std::move(model), plan);
}

/// Values of a weight that differ in size and sign.
std::string values(int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += (out.empty() ? "" : ", ") + std::to_string((i * 37 % 19 - 9) * 0.1);
  return "{" + out + "}";
}

std::string gemm(const std::string& attributes, const std::string& bias) {
  const bool is_transposed = attributes.find("transA") != std::string::npos;
  return "agraph (float[" + std::string(is_transposed ? "6,4" : "4,6") +
         "] x) => (float[4,3] y) <float[3,6] w = " + values(18) + ", float" + bias +
         "> { y = Gemm <transB: int = 1" + attributes + "> (x, w, b) }";
}

std::size_t count_of(const Model& model, const std::string& op_type) {
  std::size_t count = 0;
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    for (const auto& node : graph.node()) count += node.op_type() == op_type;
  });
  return count;
}

constexpr double kNear = 0.03;

}  // namespace

TEST_CASE("dynamic: a Gemm with any alpha, beta, orientation and bias is near the float one",
          "[quantize]") {
  const std::vector<std::string> attributes = {"", ", alpha: float = 0.5, beta: float = -2.0",
                                               ", alpha: float = -3.0",
                                               ", transA: int = 1, beta: float = 0.0"};
  const std::vector<std::string> biases = {"[3] b = {1, -2, 0.5}", " b = {1}",
                                           "[1,3] b = {1, -2, 0.5}", "[4,1] b = {1, -2, 0.5, 3}"};
  for (const auto& each : attributes) {
    for (const auto& bias : biases) {
      INFO(each << " / " << bias);
      const Model model = quantized(gemm(each, bias));
      CHECK(count_of(model, "MatMulInteger") == 1);
      CHECK(difference(text_model(gemm(each, bias)), model) < kNear);
    }
  }
}

TEST_CASE("dynamic: a Conv that is asked for keeps small channels beside large ones",
          "[quantize]") {
  const std::string text =
      "agraph (float[1,2,4,4] x) => (float[1,1,4,4] y) <float[2,2,1,1] w = {100, -50, 0.01, 0.02}, "
      "float[2] b = {1, 0.001}, int64[1] one = {1}> { a = Conv (x, w, b) y = Gather <axis: int = "
      "1> "
      "(a, one) }";
  QuantizationConfig config;
  CHECK(count_of(quantized(text, config), "ConvInteger") == 0);
  config.op_types_to_quantize = {"Conv"};
  config.weight_type = QuantType::UInt8;
  const Model model = quantized(text, config);
  CHECK(count_of(model, "ConvInteger") == 1);
  CHECK(difference(text_model(text), model) < kNear);
  config.per_channel = false;
  CHECK(difference(text_model(text), quantized(text, config)) > 0.5);
}

TEST_CASE("dynamic: an LSTM with the batch first gives what the other layout gives", "[quantize]") {
  const std::string weights =
      "<float[2,12,5] w = " + values(120) + ", float[2,12,3] r = " + values(72) + ">";
  const std::string attributes = "hidden_size: int = 3, direction: string = \"bidirectional\"";
  const std::string sequence_first =
      "agraph (float[2,4,5] x) => (float[2,4,2,3] y, float[2,2,3] h) " + weights +
      " { t = Transpose <perm = [1, 0, 2]> (x) s, f = LSTM <" + attributes +
      "> (t, w, r) y = Transpose <perm = [2, 0, 1, 3]> (s) h = Transpose <perm = [1, 0, 2]> (f) }";
  const std::string batch_first = "agraph (float[2,4,5] x) => (float[2,4,2,3] y, float[2,2,3] h) " +
                                  weights + " { y, h = LSTM <" + attributes +
                                  ", layout: int = 1> (x, w, r) }";
  const Model model = quantized(batch_first);
  CHECK(count_of(model, "DynamicQuantizeLSTM") == 1);
  CHECK(difference(text_model(sequence_first), model) < kNear);
}

TEST_CASE("dynamic: weights that other operators read stay exact for them", "[quantize]") {
  const std::string text =
      "agraph (float[2,2] x) => (float[2,2] y, float[2,2] z) <float[2,2] w = {0.123, 2, 3, 0.456}> "
      "{ y = MatMul (x, w) z = Add (x, w) }";
  const auto inputs = random_inputs(text_model(text));
  const auto before = run_model(text_model(text), inputs);
  const auto after = run_model(quantized(text), inputs);
  CHECK(before[1].tensor.bytes == after[1].tensor.bytes);
  CHECK(before[0].tensor.bytes != after[0].tensor.bytes);
}

// The parser takes float16 values by their bits: 0.5, 2, 3, -1 and 1, 2.
TEST_CASE("dynamic: float16 models compute near themselves", "[quantize]") {
  const std::string text =
      "agraph (float[2,2] i) => (float[2,2] o) <float16[2,2] w = {14336, 16384, 16896, 48128}, "
      "float16[2] b = "
      "{15360, 16384}> { x = Cast <to: int = 10> (i) a = MatMul (x, w) y = Gemm (a, w, b) o = Cast "
      "<to: "
      "int "
      "= 1> (y) }";
  const Model model = quantized(text);
  CHECK(count_of(model, "MatMulInteger") == 2);
  CHECK(difference(text_model(text), model) < kNear);
}

TEST_CASE("dynamic: GRU and RNN read weights of 8 bits", "[quantize]") {
  for (const std::string op : {"GRU", "RNN"}) {
    const int rows = op == "GRU" ? 9 : 3;
    const std::string text = "agraph (float[2,1,5] x) => (float[2,1,1,3] y) <float[1," +
                             std::to_string(rows) + ",5] w = " + values(rows * 5) + ", float[1," +
                             std::to_string(rows) + ",3] r = " + values(rows * 3) +
                             "> { y = " + op + " <hidden_size: int = 3> (x, w, r) }";
    const Model model = quantized(text);
    INFO(op);
    CHECK(count_of(model, "DequantizeLinear") == 2);
    CHECK(GraphView(model.graph()).initializer("w") == nullptr);
    CHECK(difference(text_model(text), model) < kNear);
  }
}

TEST_CASE("dynamic: a weight with a value that is not finite leaves its node in float",
          "[quantize]") {
  onnx::ModelProto proto = text_proto(
      "agraph (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1, 2, 3, 4}> { y = MatMul (x, w) "
      "}");
  proto.mutable_graph()->mutable_initializer(0)->set_float_data(
      0, std::numeric_limits<float>::infinity());
  const DynamicPlan plan = plan_dynamic(Model(proto), {});
  REQUIRE(plan.left.size() == 1);
  CHECK(plan.left[0].reason == "'w' has values that are not finite");
  CHECK(plan.weights.empty());
}

TEST_CASE("dynamic: what QAttention drops keeps an Attention in float", "[quantize]") {
  const auto node = [](const char* attribute, int inputs) {
    onnx::NodeProto out;
    for (int i = 0; i < inputs; ++i) out.add_input("i" + std::to_string(i));
    if (attribute != nullptr) out.add_attribute()->set_name(attribute);
    return out;
  };
  CHECK(attention_obstacle(node(nullptr, 3)).empty());
  CHECK(attention_obstacle(node(nullptr, 2)) == "QAttention needs a bias");
  CHECK(attention_obstacle(node(nullptr, 6)) == "QAttention has no input 'i5'");
  CHECK(attention_obstacle(node("scale", 3)) == "QAttention has no attribute scale");
}

TEST_CASE("dynamic: a column of zeros leaves a uint8 weight as right as others", "[quantize]") {
  const std::string text =
      "agraph (float[2,3] x) => (float[2,2] y) <float[3,2] w = {1, 0, -2, 0, 3, 0}> { y = MatMul "
      "(x, w) }";
  QuantizationConfig config;
  config.weight_type = QuantType::UInt8;
  CHECK(difference(text_model(text), quantized(text, config)) < kNear);
}

TEST_CASE("dynamic: a given zero point of each column is stored", "[quantize]") {
  const std::string text =
      "agraph (float[2,3] x) => (float[2,2] y) <float[3,2] w = {1, 0.5, -2, 1.5, 3, 2}> { y = "
      "MatMul (x, w) }";
  QuantizationConfig config;
  config.weight_type = QuantType::UInt8;
  TensorOverride first, second;
  first.scale.values = {0.025};
  first.zero_point.values = {100};
  second.scale.values = {0.01};
  second.zero_point.values = {0};
  config.extra_options.tensor_quant_overrides["w"] = {first, second};
  CHECK(difference(text_model(text), quantized(text, config)) < kNear);
}

TEST_CASE("dynamic: a weight behind Transpose and Cast is stored as the product reads it",
          "[quantize]") {
  const std::string matrix = "<float[3,6] w = " + values(18) + ">";
  const std::vector<std::string> bodies = {
      "(float[4,6] x) => (float[4,3] y) " + matrix + " { t = Transpose (w) y = MatMul (x, t) }",
      "(float[4,3] x) => (float[4,6] y) " + matrix +
          " { t = Transpose (w) i = Identity (t) y = Gemm <transB: int = 1, alpha: float = -2.0> "
          "(x, i) }",
      "(float[4,6] x) => (float[4,3] y) " + matrix + " { t = Transpose (w) y = Gemm (x, t) }",
      "(float[2,4,3] x) => (float[2,4,3] y) <float[2,3,3] w = " + values(18) +
          "> { t = Transpose <perm = [0, 2, 1]> (w) y = MatMul (x, t) }"};
  for (const auto& body : bodies) {
    INFO(body);
    const Model model = quantized("agraph " + body);
    CHECK(count_of(model, "MatMulInteger") == 1);
    CHECK(count_of(model, "Transpose") == 0);
    CHECK(GraphView(model.graph()).initializer("w") == nullptr);
    CHECK(difference(text_model("agraph " + body), model) < kNear);
  }
}

TEST_CASE("dynamic: a Transpose of other axes leaves its product in float", "[quantize]") {
  const std::string text =
      "agraph (float[2,3] x) => (float[3,2,3] y) <float[3,2,3] w = " + values(18) +
      "> { t = Transpose <perm = [2, 0, 1]> (w) y = MatMul " + "(x, t) }";
  CHECK(count_of(quantized(text), "MatMulInteger") == 0);
}

TEST_CASE("dynamic: a Gemm is chosen and left by its own type and name", "[quantize]") {
  const std::string text =
      "agraph (float[2,2] x) => (float[2,2] z) <float[2,2] w = {1, 2, 3, 4}> { [m] y = MatMul (x, "
      "w) [g] z = Gemm (y, w) }";
  QuantizationConfig config;
  config.op_types_to_quantize = {"Gemm"};
  const Model model = quantized(text, config);
  CHECK(count_of(model, "MatMulInteger") == 1);
  CHECK(count_of(model, "MatMul") == 1);
  config = {};
  config.nodes_to_exclude = {"g"};
  CHECK(count_of(quantized(text, config), "Gemm") == 1);
}

TEST_CASE("dynamic: weights of a file are made when they are written, as those in memory",
          "[quantize]") {
  const std::string text =
      "agraph (float[2,20] x) => (float[2,20] y, float[2,1,1,20] z) <float[20,20] w = " +
      values(400) + ", float[1,80,20] v = " + values(1600) +
      ", float[1,80,20] r = " + values(1600) +
      ", int64[3] s = {2, 1, 20}> { a = MatMul (x, w) y = Gemm <transB: int = 1> " +
      "(a, w) b = Reshape (y, s) z = LSTM <hidden_size: int = 20> (b, v, r) }";
  const TempDir dir;
  const Model in_memory = text_model(text);
  const DynamicPlan expected = plan_dynamic(in_memory, {});
  dir.write("m.onnx", in_memory.proto().SerializeAsString());
  const Model in_file = load_model(dir / "m.onnx");
  const DynamicPlan found = plan_dynamic(in_file, {});
  REQUIRE(expected.weights.size() == 4);
  REQUIRE(found.weights.size() == expected.weights.size());
  for (std::size_t i = 0; i < found.weights.size(); ++i) {
    REQUIRE(expected.weights[i].values);
    CHECK_FALSE(found.weights[i].values);
    CHECK(make_integers(in_file, found.weights[i]) == *expected.weights[i].values);
  }
}
