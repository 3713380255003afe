#include <cmath>
#include <span>
#include <string_view>

#include "base/file.h"
#include "catch.h"
#include "config/json.h"
#include "model/graph_view.h"
#include "model/model.h"
#include "npy_writer.h"
#include "qtool_run.h"
#include "run_model.h"
#include "text_model.h"

namespace qtool {
namespace {

using namespace testing;

/// A detector of two rates: each branch has convolutions of its own, one of them within a loop, and
/// both read a weight of the main graph. Weights are random numbers.
class Detector : public TempDir {
 public:
  /// `takes_both`: the samples reach both branches.
  explicit Detector(bool takes_both = true) {
    onnx::ModelProto model = text_proto(R"(agraph (bool fast, int64 n, float[1,4,6] x) =>
        (float[1,4,6] y) <float[1] shared = {1}> {
      [rate] y = If (fast) <
        then_branch = quick () => (float[1,4,6] a) <float[1] wa = {1}> {
          [quick_conv] v = Conv (x, wa)
          r = Relu (v)
          a = Conv (r, shared)
        },
        else_branch = slow () => (float[1,4,6] b) <float[1] wb = {1}> {
          v = Conv (x, shared)
          [steps] b = Loop (n, , v) <
            body = step (int64 i, bool go, float[1,4,6] state) => (bool on, float[1,4,6] next) {
              on = Identity (go)
              [step_conv] moved = Conv (state, wb)
              next = Tanh (moved)
            }
          >
        }
      >
    })");
    for_each_graph(*model.mutable_graph(), [&](onnx::GraphProto& graph) {
      for (auto& tensor : *graph.mutable_initializer())
        tensor = make_float_tensor(tensor.name(), ElementType::Float, kShape, numbers(16));
    });
    write("m.onnx", model.SerializeAsString());
    for (int sample = 0; sample < 8; ++sample) {
      const std::string folder = "calib/s_" + std::to_string(sample) + "/";
      const bool fast = !takes_both || sample % 2 == 0;
      write(folder + "fast.npy",
            npy_of({.descr = "'|b1'", .shape = "()"}, fast ? "\x01" : std::string(1, 0)));
      write(folder + "n.npy", npy<std::int64_t>({}, {2}));
      samples_.push_back(numbers(24));
      write(folder + "x.npy", npy<float>({1, 4, 6}, samples_.back()));
    }
  }

  const std::vector<std::vector<float>>& samples() const { return samples_; }

 private:
  static inline const std::vector<std::int64_t> kShape{4, 4, 1};

  std::vector<float> numbers(std::size_t count) {
    std::vector<float> out(count);
    for (float& each : out) each = std::uniform_real_distribution<float>(-1, 1)(random_);
    return out;
  }

  std::mt19937 random_{7};
  std::vector<std::vector<float>> samples_;
};

std::vector<NamedTensor> inputs_of(bool fast, const std::vector<float>& x) {
  const auto tensor = [](ElementType type, std::vector<std::int64_t> shape, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return Tensor{.type = type, .shape = std::move(shape), .bytes = {bytes.begin(), bytes.end()}};
  };
  const std::string rounds = bytes_of(std::vector<std::int64_t>{2});
  return {{"fast", tensor(ElementType::Bool, {}, std::string(1, fast ? 1 : 0))},
          {"n", tensor(ElementType::Int64, {}, rounds)},
          {"x", tensor(ElementType::Float, {1, 4, 6}, bytes_of(x))}};
}

/// Error by signal of the output over the samples that take the branch.
double relative_error(const Detector& dir, bool fast) {
  const Session original(dir / "m.onnx", {.taps = {}}), quantized(dir / "q.onnx", {.taps = {}});
  double signal = 0, error = 0;
  for (std::size_t sample = fast ? 0 : 1; sample < dir.samples().size(); sample += 2) {
    const auto inputs = inputs_of(fast, dir.samples()[sample]);
    const auto expected = to_float32(original.run(inputs).front().tensor);
    const auto found = to_float32(quantized.run(inputs).front().tensor);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      signal += std::pow(expected[i], 2);
      error += std::pow(expected[i] - found[i], 2);
    }
  }
  return std::sqrt(error / signal);
}

int float_weights(const std::filesystem::path& file) {
  int count = 0;
  const Model model = load_model(file);
  for_each_graph(model.graph(), [&](const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer())
      count += element_type(tensor) == ElementType::Float && tensor.dims_size() == 3 ? 1 : 0;
  });
  return count;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("static: weights of branches and of loops in them become integers and run", "[cli]") {
  const Detector dir;
  for (const char* channels : {"--per-channel", "--no-per-channel"}) {
    const ProcessResult result =
        run_qtool(std::string("static m.onnx q.onnx --calib-data calib ") + channels, dir);
    REQUIRE(result.err.empty());
    REQUIRE(result.exit_code == 0);
    CHECK(holds(result.out, "4 quantized, 1 folded away"));
    CHECK(holds(result.out, "4 weights"));
    CHECK(float_weights(dir / "q.onnx") == 0);
    CHECK(relative_error(dir, true) < 0.03);
    CHECK(relative_error(dir, false) < 0.03);
    std::filesystem::remove(dir / "q.onnx");
  }
}

TEST_CASE("static: a branch that no sample takes stays in float, and says so", "[cli]") {
  const Detector dir(false);
  const ProcessResult result = run_qtool("static m.onnx q.onnx --calib-data calib --json", dir);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.out, "calibration never ran the body it lies in"));
  CHECK(result.err ==
        "qtool: warning: else_branch of node 'rate' (If): calibration never ran it, so its weights "
        "stay in float\n");
  CHECK(relative_error(dir, true) < 0.03);
  CHECK(relative_error(dir, false) == 0);
}

TEST_CASE("inspect: explains a node of a body", "[cli]") {
  const Detector dir;
  const ProcessResult result = run_qtool("inspect m.onnx --explain step_conv", dir);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.out, "quantized"));
  CHECK(holds(result.out, "wb"));
  CHECK(holds(result.out, "int8, constant"));
}

}  // namespace
}  // namespace qtool
