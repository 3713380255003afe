#include "runtime/session.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "base/parallel.h"
#include "catch.h"
#include "temp_dir.h"
#include "tensor_builder.h"
#include "text_model.h"

namespace qtool {
namespace {

using Catch::Matchers::Equals;
using Catch::Matchers::StartsWith;
using testing::float_tensor;

struct Seen {
  std::vector<float> values;
  std::vector<std::int64_t> shape;
};

class Recorder : public TensorObserver {
 public:
  void observe(std::size_t tap, std::span<const float> values,
               std::span<const std::int64_t> shape) override {
    seen[tap] = {{values.begin(), values.end()}, {shape.begin(), shape.end()}};
    order.push_back(tap);
  }

  std::map<std::size_t, Seen> seen;
  std::vector<std::size_t> order;
};

class Thrower : public TensorObserver {
 public:
  void observe(std::size_t, std::span<const float>, std::span<const std::int64_t>) override {
    throw Error(ErrorKind::Interrupted, "interrupted");
  }
};

std::vector<NamedTensor> input(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  return {{"x", float_tensor(std::move(shape), values)}};
}

std::vector<float> floats(const Tensor& tensor) {
  return {tensor.floats().begin(), tensor.floats().end()};
}

SessionConfig taps(std::vector<std::string> names) {
  SessionConfig out;
  out.taps = std::move(names);
  return out;
}

constexpr const char* kChain = R"(g (float[N,2] x) => (float[N,2] y, float[N,2] b) {
  a = Relu (x)
  b = Neg (a)
  c = Exp (b)
  y = Add (b, c)
})";

/// y = x * w with a weight of 2048 floats, each its own index.
onnx::ModelProto large_weight() {
  auto proto = testing::text_proto("g (float[2048] x) => (float[2048] y) { y = Mul (x, w) }");
  auto& weight = *proto.mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(2048);
  std::vector<float> values(2048);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  weight.set_raw_data(values.data(), values.size() * sizeof(float));
  return proto;
}

void check_multiplies_by_index(const Session& session) {
  const auto outputs = session.run(input({2048}, std::vector<float>(2048, 2.0F)));
  const auto values = outputs.at(0).tensor.floats();
  CHECK(values[0] == 0);
  CHECK(values[1000] == 2000);
  CHECK(values[2047] == 4094);
}

}  // namespace

TEST_CASE("values of a body are observed each time that it runs, others never", "[runtime]") {
  const Model model = testing::text_model(R"(g (float[2] x, bool c) => (float[2] y) {
    y = If (c) <then_branch = t () => (float[2] z) { z = Neg (x) },
                else_branch = e () => (float[2] w) { w = Abs (x) }>
  })");
  const Session session(model, taps({"z", "w"}));
  Recorder recorder;
  const std::vector<NamedTensor> inputs{{"x", float_tensor({2}, {1, -2})},
                                        {"c", Tensor{ElementType::Bool, {}, {std::byte{1}}}}};
  session.run_observed(inputs, recorder);
  CHECK(recorder.order == std::vector<std::size_t>{0});
  CHECK(recorder.seen[0].values == std::vector<float>{-1, 2});
}

TEST_CASE("16-bit values are observed as float32", "[runtime]") {
  for (const char* type : {"float16", "bfloat16"}) {
    CAPTURE(type);
    const std::string name(type);
    const int number = name == "float16" ? 10 : 16;
    const Model model = testing::text_model("g (float[3] x) => (float[3] y) <" + name +
                                            "[3] h> { h = Cast <to = " + std::to_string(number) +
                                            "> (x)  y = Cast <to = 1> (h) }");
    const Session session(model, taps({"h"}));
    Recorder recorder;
    session.run_observed(input({3}, {1.5F, -2, 0.25F}), recorder);
    CHECK(recorder.seen[0].values == std::vector<float>{1.5F, -2, 0.25F});
    CHECK(recorder.seen[0].shape == std::vector<std::int64_t>{3});
  }
}

TEST_CASE("a session says what it takes and gives", "[runtime]") {
  const Model model = testing::text_model(kChain);
  const Session session(model, {});
  REQUIRE(session.inputs().size() == 1);
  CHECK(describe(session.inputs()[0]) == "float32[N,2]");
  REQUIRE(session.outputs().size() == 2);
  CHECK(session.outputs()[1].name == "b");
}

TEST_CASE("run gives all outputs in the model's order, for any batch", "[runtime]") {
  const Model model = testing::text_model(kChain);
  const Session session(model, {});
  const auto one = session.run(input({1, 2}, {-1, 2}));
  REQUIRE(one.size() == 2);
  CHECK(one[0].name == "y");
  CHECK(floats(one[1].tensor) == std::vector<float>{0, -2});
  const auto two = session.run(input({2, 2}, {1, 2, 3, 4}));
  CHECK(two[1].tensor.shape == std::vector<std::int64_t>{2, 2});
  CHECK(session.run(input({0, 2}, {}))[0].tensor.bytes.empty());
}

TEST_CASE("run finds inputs by name and says which one is missing", "[runtime]") {
  const Model model =
      testing::text_model("g (float[1] x, float[1] y) => (float[1] z) { z = Sub (x, y) }");
  const Session session(model, {});
  const std::vector<NamedTensor> swapped{{"y", float_tensor({1}, {1})},
                                         {"x", float_tensor({1}, {5})}};
  CHECK(floats(session.run(swapped)[0].tensor) == std::vector<float>{4});
  CHECK_THROWS_WITH(session.run(input({1}, {1})),
                    Equals("model: input 'y': has no value in the sample"));
}

TEST_CASE(
    "run_observed shows each tapped value once, in the order of the graph, as the graph makes it",
    "[runtime]") {
  const Model model = testing::text_model(kChain);
  for (const auto level : {SessionConfig::Optimization::None, SessionConfig::Optimization::All}) {
    SessionConfig config = taps({"c", "x", "b", "a"});
    config.optimization = level;
    const Session session(model, config);
    Recorder recorder;
    session.run_observed(input({1, 2}, {-1, 2}), recorder);
    CHECK(recorder.order == std::vector<std::size_t>{1, 3, 2, 0});
    CHECK(recorder.seen[1].values == std::vector<float>{-1, 2});
    CHECK(recorder.seen[3].values == std::vector<float>{0, 2});
    CHECK(recorder.seen[2].values == std::vector<float>{0, -2});
    CHECK(recorder.seen[0].values[0] == 1);
    CHECK(recorder.seen[0].shape == std::vector<std::int64_t>{1, 2});
  }
}

TEST_CASE("run_observed shows empty tensors and scalars", "[runtime]") {
  const Model model = testing::text_model(
      "g (float[N] x) => (float y) { a = Relu (x) y = ReduceMax <keepdims = 0> (b) b = Neg (x) }");
  const Session session(model, taps({"a"}));
  Recorder recorder;
  session.run_observed(input({0}, {}), recorder);
  CHECK(recorder.seen.at(0).values.empty());
  CHECK(recorder.seen.at(0).shape == std::vector<std::int64_t>{0});
}

TEST_CASE("run_observed shows constants and what is computed from them", "[runtime]") {
  const Model model = testing::text_model(R"(g (float[2] x) => (float[2] y) <float[2] w = {1, -2}> {
    k = Abs (w)
    y = Add (x, k)
  })");
  for (const auto level : {SessionConfig::Optimization::None, SessionConfig::Optimization::Extended,
                           SessionConfig::Optimization::All}) {
    SessionConfig config = taps({"w", "k"});
    config.optimization = level;
    const Session session(model, config);
    Recorder recorder;
    session.run_observed(input({2}, {0, 0}), recorder);
    CHECK(recorder.seen[0].values == std::vector<float>{1, -2});
    CHECK(recorder.seen[1].values == std::vector<float>{1, 2});
  }
}

TEST_CASE("what an observer throws comes out of run_observed", "[runtime]") {
  const Model model = testing::text_model(kChain);
  const Session session(model, taps({"a"}));
  Thrower thrower;
  CHECK_THROWS_WITH(session.run_observed(input({1, 2}, {1, 2}), thrower), Equals("interrupted"));
  Recorder recorder;
  session.run_observed(input({1, 2}, {1, 2}), recorder);
  CHECK(recorder.order.size() == 1);
}

TEST_CASE("several threads run one session, each with its own observer", "[runtime]") {
  const Model model = testing::text_model(kChain);
  const Session session(model, taps({"a"}));
  std::vector<Recorder> recorders(4);
  parallel_for(200, 4, [&](std::size_t index, int worker) {
    const auto value = static_cast<float>(index);
    auto& recorder = recorders[static_cast<std::size_t>(worker)];
    session.run_observed(input({1, 2}, {value, value}), recorder);
    if (recorder.seen[0].values[0] != value)
      throw Error(ErrorKind::Internal, "another thread's value");
  });
  std::size_t count = 0;
  for (const auto& recorder : recorders) count += recorder.order.size();
  CHECK(count == 200);
}

TEST_CASE("a tap inside an untaken branch's surroundings is still shown", "[runtime]") {
  const Model model = testing::text_model(R"(g (bool c, float[2] x) => (float[2] y) {
    a = Relu (x)
    z = If (c) <then_branch = t () => (float[2] p) { p = Neg (a) },
                else_branch = e () => (float[2] q) { q = Exp (a) }>
    y = Abs (z)
  })");
  const Session session(model, taps({"a", "z"}));
  Recorder recorder;
  const std::vector<NamedTensor> inputs{
      {"c", testing::make_tensor_of<std::uint8_t>(ElementType::Bool, {}, {1})},
      {"x", float_tensor({2}, {3, -1})}};
  session.run_observed(inputs, recorder);
  CHECK(recorder.seen[0].values == std::vector<float>{3, 0});
  CHECK(recorder.seen[1].values[0] == -3);
}

TEST_CASE("large weights in memory and in the model's file are used", "[runtime]") {
  const testing::TempDir folder;
  const Model in_memory{large_weight()};
  check_multiplies_by_index(Session(in_memory, {}));
  const auto path = folder.write("m.onnx", large_weight().SerializeAsString());
  const Model from_file = load_model(path);
  check_multiplies_by_index(Session(from_file, {}));
  check_multiplies_by_index(Session(path, {}));
}

TEST_CASE("large weights of a model reached by a link are used", "[runtime]") {
  const testing::TempDir folder;
  folder.write("real/m.onnx", large_weight().SerializeAsString());
  std::filesystem::create_symlink("real/m.onnx", folder / "link.onnx");
  const Model model = load_model(folder / "link.onnx");
  check_multiplies_by_index(Session(model, {}));
}

TEST_CASE("large initializers and constants of a subgraph in the model's file are used",
          "[runtime]") {
  auto proto = testing::text_proto(R"(g (bool c, float[2048] x) => (float[2048] y) {
    y = If (c) <then_branch = t () => (float[2048] p) { p = Mul (x, w) },
                else_branch = e () => (float[2048] q) { k = Constant () q = Mul (x, k) }>
  })");
  const auto weight = large_weight().graph().initializer(0);
  auto& attributes = *proto.mutable_graph()->mutable_node(0)->mutable_attribute();
  *attributes.at(0).mutable_g()->add_initializer() = weight;
  auto& value = *attributes.at(1).mutable_g()->mutable_node(0)->add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  *value.mutable_t() = weight;
  const testing::TempDir folder;
  const Model model = load_model(folder.write("m.onnx", proto.SerializeAsString()));
  const Session session(model, {});
  for (const std::uint8_t branch : {std::uint8_t{1}, std::uint8_t{0}}) {
    auto inputs = input({2048}, std::vector<float>(2048, 2.0F));
    inputs.push_back({"c", testing::make_tensor_of<std::uint8_t>(ElementType::Bool, {}, {branch})});
    CHECK(session.run(inputs)[0].tensor.floats()[2047] == 4094);
  }
}

TEST_CASE("a model that ONNX Runtime refuses is an input error in one line", "[runtime]") {
  const Model model = testing::text_model(
      "<ir_version: 8, opset_import: [\"\" : 17, \"com.foo\" : 1]> g (float[1] x) => (float[1] y) "
      "{ y = com.foo.Bar (x) }");
  CHECK_THROWS_WITH(Session(model, {}), Equals("model: ONNX Runtime cannot load it: Fatal error: "
                                               "com.foo:Bar(-1) is not a registered function/op"));
}

TEST_CASE("a run that fails is an input error that names the node", "[runtime]") {
  const Model model =
      testing::text_model("g (float[N] x, float[M] y) => (float[K] z) { [adder] z = Add (x, y) }");
  const Session session(model, {});
  const std::vector<NamedTensor> inputs{{"x", float_tensor({2}, {1, 2})},
                                        {"y", float_tensor({3}, {1, 2, 3})}};
  try {
    session.run(inputs);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::Input);
    CHECK_THAT(error.what(), StartsWith("model: ONNX Runtime cannot run it: Non-zero status code "
                                        "returned while running Add node."));
    CHECK(std::string(error.what()).find(".h:") == std::string::npos);
  }
}

TEST_CASE("outputs that are not tensors of numbers are refused by name", "[runtime]") {
  const Model model =
      testing::text_model("g (float[1] x) => (seq(float[1]) y) { y = SequenceConstruct (x) }");
  const Session session(model, {});
  CHECK_THROWS_WITH(session.run(input({1}, {1})),
                    Equals("output 'y': is not a dense tensor, expected a tensor of numbers"));
}

TEST_CASE("run gives only the outputs that were asked for", "[runtime]") {
  const Model model = testing::text_model(
      "g (float[1] x) => (float[1] a, seq(float[1]) s, float[1] b) "
      "{ a = Identity (x) s = SequenceConstruct (x) b = Neg (x) }");
  const Session session(model, {});
  const auto outputs = session.run(input({1}, {1}), std::vector<std::size_t>{2, 0});
  REQUIRE(outputs.size() == 2);
  CHECK(outputs[0].name == "b");
  CHECK(outputs[0].tensor.floats()[0] == -1);
  CHECK(outputs[1].name == "a");
}

TEST_CASE("telemetry is off whoever uses the library", "[runtime]") {
  const Model model = testing::text_model(kChain);
  const Session session(model, {});
  REQUIRE(std::getenv("ORT_DISABLE_TELEMETRY") != nullptr);
  CHECK(std::string(std::getenv("ORT_DISABLE_TELEMETRY")) == "1");
}

TEST_CASE("the version is the library's own", "[runtime]") {
  const std::string version = onnxruntime_version();
  CHECK(std::count(version.begin(), version.end(), '.') == 2);
}

}  // namespace qtool
