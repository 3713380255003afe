#include "runtime/ort_model.h"

#include "catch.h"
#include "temp_dir.h"
#include "text_model.h"

namespace qtool {
namespace {

using Names = std::vector<std::string>;

onnx::TensorProto weight(const std::string& name, std::int64_t count) {
  onnx::TensorProto out;
  out.set_name(name);
  out.set_data_type(onnx::TensorProto::FLOAT);
  out.add_dims(count);
  out.set_raw_data(std::string(static_cast<std::size_t>(count) * 4, '\1'));
  return out;
}

/// y = x + w1, z = y + w2, with a large constant in an attribute of a third node.
onnx::ModelProto two_sums(std::int64_t count) {
  auto proto = testing::text_proto(R"(g (float[N] x) => (float[M] z) {
    y = Add (x, w1)
    k = Constant ()
    z = Sum (y, w2, k)
  })");
  *proto.mutable_graph()->add_initializer() = weight("w1", count);
  *proto.mutable_graph()->add_initializer() = weight("w2", count);
  auto& attribute = *proto.mutable_graph()->mutable_node(1)->add_attribute();
  attribute.set_name("value");
  attribute.set_type(onnx::AttributeProto::TENSOR);
  *attribute.mutable_t() = weight("", count);
  return proto;
}

onnx::GraphProto graph_in(const OrtModel& model) {
  onnx::ModelProto proto;
  REQUIRE(proto.ParseFromString(model.bytes));
  return proto.graph();
}

std::string location(const onnx::TensorProto& tensor) {
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") return entry.value();
  }
  return {};
}

}  // namespace

TEST_CASE("large weights in memory are not serialized but pointed to", "[runtime]") {
  const Model model(two_sums(1000));
  const OrtModel out = make_ort_model(model);
  REQUIRE(out.in_memory.size() == 2);
  CHECK(out.in_memory[0] == &model.graph().initializer(0));
  CHECK(out.bytes.size() < 6000);  // the attribute's 4000 bytes are in it
}

TEST_CASE("small weights are serialized", "[runtime]") {
  const Model model(two_sums(10));
  const OrtModel out = make_ort_model(model);
  CHECK(out.in_memory.empty());
  CHECK(graph_in(out).initializer(1).raw_data() == std::string(40, '\1'));
}

TEST_CASE("weights in the model's file are named by the file's path, attributes get their bytes",
          "[runtime]") {
  const testing::TempDir folder;
  const Model model = load_model(folder.write("m.onnx", two_sums(1000).SerializeAsString()));
  const OrtModel out = make_ort_model(model);
  CHECK(out.in_memory.empty());
  const auto graph = graph_in(out);
  REQUIRE(graph.initializer_size() == 2);
  CHECK(out.folder / location(graph.initializer(0)) ==
        std::filesystem::canonical(folder / "m.onnx"));
  CHECK(graph.node(1).attribute(0).t().raw_data() == std::string(4000, '\1'));
}

TEST_CASE("a tapped model holds what its taps need and nothing else", "[runtime]") {
  const Model model(two_sums(1000));
  const auto graph = graph_in(make_tapped_ort_model(model, Names{"y"}));
  CHECK(graph.node_size() == 2);
  CHECK(graph.node(0).op_type() == "Add");
  CHECK(graph.node(1).op_type() == "Observe");
  CHECK(graph.initializer(0).name() == "w1");
  CHECK(graph.initializer(1).name() == "qtool_done");
  CHECK(graph.input(0).name() == "x");
  CHECK(graph.output(0).name() == "qtool_done");
}

}  // namespace qtool
