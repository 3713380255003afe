#include "report/inspect.h"

#include "catch.h"

namespace qtool {
namespace {

TensorInfo info(std::string name, std::vector<std::int64_t> shape,
                std::vector<std::string> symbols) {
  return {std::move(name), ElementType::Float, std::move(shape), std::move(symbols), true};
}

InspectReport example() {
  InspectReport report;
  report.model = {"models/net.onnx", 5000};
  report.summary.ir_version = 8;
  report.summary.producer_name = "maker";
  report.summary.producer_version = "2.1";
  report.summary.graph_name = "g";
  report.summary.opsets = {{"", 17}, {"com.microsoft", 1}};
  report.summary.inputs = {info("x", {-1, 4, -1}, {"N", "", ""})};
  report.summary.outputs = {info("y", {1, 2}, {"", ""})};
  report.summary.operators = {{"", "MatMul", 2, 1000, 4000}, {"com.microsoft", "Gelu", 1, 0, 0}};
  report.summary.weights = {{ElementType::Float, 2, 1000, 4000}};
  report.summary.node_count = 3;
  report.summary.subgraph_count = 1;
  report.summary.weight_elements = 1000;
  report.summary.weight_bytes = 4000;
  report.summary.unused_weight_count = 1;
  report.outcome.quantized_nodes = 2;
  report.outcome.float_nodes = 1;
  report.outcome.left = {{2, "gelu", "Gelu", "", "the operator has no 8-bit form"}};
  return report;
}

TEST_CASE("inspect report: the text says what the model holds and what stays in float",
          "[report]") {
  CHECK(to_text(to_document(example())) ==
        "  model               models/net.onnx, 5.0 KB\n"
        "  producer            maker 2.1\n"
        "  opset               17, com.microsoft 1\n"
        "  IR version          8\n"
        "  graph               3 nodes, 1 subgraph\n"
        "  weights             1000 values, 4.0 KB, 1 tensor not read\n"
        "  preset              cpu\n"
        "  would be quantized  2 of 3 nodes after preprocessing\n"
        "\n"
        "inputs\n"
        "  name  type\n"
        "  x     float32[N,4,?]\n"
        "\n"
        "outputs\n"
        "  name  type\n"
        "  y     float32[1,2]\n"
        "\n"
        "weights\n"
        "  type     tensors  values    size\n"
        "  float32        2    1000  4.0 KB\n"
        "\n"
        "operators\n"
        "  operator            nodes  values    size\n"
        "  MatMul                  2    1000  4.0 KB\n"
        "  com.microsoft.Gelu      1       0     0 B\n"
        "\n"
        "nodes left in float\n"
        "  nodes  operator  why\n"
        "      1  Gelu      the operator has no 8-bit form\n");
}

TEST_CASE("inspect report: what does not suit the target is listed by node", "[report]") {
  InspectReport report = example();
  report.preset = Preset::TensorRt;
  report.lint = {{"node 'q' (QuantizeLinear)", "x", "activation is uint8, expected int8"}};
  const std::string text = to_text(to_document(report));
  CHECK(text.find("\ndoes not suit tensorrt\n") != std::string::npos);
  CHECK(text.find("node 'q' (QuantizeLinear)  x       activation is uint8, expected int8\n") !=
        std::string::npos);
  const JsonValue json = to_json(report);
  CHECK(*json.find("preset")->as<std::string>() == "tensorrt");
  CHECK(json.find("lint")->as<JsonValue::List>()->size() == 1);
}

TEST_CASE("inspect report: what keeps a model from being quantized is told", "[report]") {
  InspectReport report = example();
  report.obstacle = "net.onnx: node 'up' (Upsample): cannot be converted";
  CHECK(to_text(to_document(report))
            .find("  would be quantized  unknown: net.onnx: node 'up' (Upsample): cannot be "
                  "converted\n") != std::string::npos);
  CHECK(to_compact_json(*to_json(report).find("quantization")) ==
        R"({"obstacle":"net.onnx: node 'up' (Upsample): cannot be converted"})");
}

TEST_CASE("inspect report: an explanation stands alone", "[report]") {
  InspectReport report = example();
  report.explanation = NodeExplanation{"mm",
                                       "MatMul",
                                       "",
                                       {{"x", "graph input", "float32[N,4]", "uint8, measured"}},
                                       {{"y", "graph output", "unknown", "float"}},
                                       {NodeDecision::Outcome::Quantized, {}}};
  CHECK(to_text(to_document(report)) ==
        "  node      mm\n"
        "  operator  MatMul\n"
        "  decision  quantized\n"
        "\n"
        "inputs\n"
        "  name  from         type          becomes\n"
        "  x     graph input  float32[N,4]  uint8, measured\n"
        "\n"
        "outputs\n"
        "  name  from          type     becomes\n"
        "  y     graph output  unknown  float\n");
  CHECK(
      to_compact_json(*to_json(report).find("explanation")) ==
      R"({"name":"mm","domain":"","op_type":"MatMul","decision":"quantized","reason":"",)"
      R"("inputs":[{"name":"x","from":"graph input","type":"float32[N,4]","becomes":"uint8, measured"}],)"
      R"("outputs":[{"name":"y","from":"graph output","type":"unknown","becomes":"float"}]})");
}

TEST_CASE("inspect report: JSON gives shapes as sizes, names or null", "[report]") {
  const JsonValue json = to_json(example());
  CHECK(to_compact_json(*json.find("inputs")) ==
        R"([{"name":"x","type":"float32","shape":["N",4,null]}])");
  CHECK(to_compact_json(*json.find("opsets")) ==
        R"([{"domain":"","version":17},{"domain":"com.microsoft","version":1}])");
  CHECK(
      to_compact_json(*json.find("operators")) ==
      R"([{"domain":"","op_type":"MatMul","node_count":2,"weight_elements":1000,"weight_bytes":4000},)"
      R"({"domain":"com.microsoft","op_type":"Gelu","node_count":1,"weight_elements":0,"weight_bytes":0}])");
  CHECK(to_compact_json(*json.find("weights")) ==
        R"([{"type":"float32","tensor_count":2,"elements":1000,"bytes":4000}])");
}

TEST_CASE("inspect report: JSON says of each node its integer kernel or why it has none",
          "[report]") {
  InspectReport report = example();
  report.kernels.nodes = {{"c", "Conv", "QLinearConv", ""}, {"a", "Add", "", "why"}};
  CHECK(to_compact_json(*to_json(report).find("kernel_nodes")) ==
        R"([{"name":"c","op_type":"Conv","kernel":"QLinearConv"},)"
        R"({"name":"a","op_type":"Add","reason":"why"}])");
}

}  // namespace
}  // namespace qtool
