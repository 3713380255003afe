#include "random_graph.h"

#include <random>
#include <string>
#include <vector>

namespace qtool::testing {
namespace {

constexpr int kSize = 4;

/// A value of shape [1, channels, kSize, kSize].
struct Value {
  std::string name;
  int channels;
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed, bool has_detours = false)
      : random_(seed), has_detours_(has_detours) {
    proto_.set_ir_version(8);
    proto_.add_opset_import()->set_version(17);
    proto_.mutable_graph()->set_name("random");
    describe(*proto_.mutable_graph()->add_input(), "x", {1, 3, kSize, kSize});
    values_.push_back({"x", 3});
  }

  onnx::ModelProto run() {
    const int steps = below(12) + 3;
    for (int i = 0; i < steps; ++i) add_step();
    add_output();
    return std::move(proto_);
  }

 private:
  // std::uniform_int_distribution differs between libraries.
  int below(int end) { return static_cast<int>(random_() % static_cast<std::uint32_t>(end)); }
  const Value& any() {
    return values_[static_cast<std::size_t>(below(static_cast<int>(values_.size())))];
  }

  static void describe(onnx::ValueInfoProto& info, const std::string& name,
                       const std::vector<int>& shape) {
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
    for (const int size : shape)
      info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(size);
  }

  /// Values up to 2 from the `center`.
  std::string weight(const std::vector<std::int64_t>& shape, float center = 0) {
    const std::string name = "w" + std::to_string(proto_.graph().initializer_size());
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    std::vector<float> values(count);
    for (float& value : values) value = center + static_cast<float>(below(2001) - 1000) / 500.0F;
    *proto_.mutable_graph()->add_initializer() =
        make_tensor(name, ElementType::Float, shape, std::as_bytes(std::span(values)));
    return name;
  }

  std::string scalar(float value) {
    const std::string name = "s" + std::to_string(proto_.graph().initializer_size());
    *proto_.mutable_graph()->add_initializer() =
        make_tensor(name, ElementType::Float, {}, std::as_bytes(std::span(&value, 1)));
    return name;
  }

  onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                        int channels) {
    auto& out = *proto_.mutable_graph()->add_node();
    const std::string name = "v" + std::to_string(proto_.graph().node_size());
    out.set_op_type(op);
    out.set_name("n" + name);
    for (const std::string& input : inputs) out.add_input(input);
    out.add_output(name);
    values_.push_back({name, channels});
    return out;
  }

  static void ints(onnx::NodeProto& node, const std::string& name, const std::vector<int>& values) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const int value : values) attribute.add_ints(value);
  }

  std::string integers(const std::vector<std::int64_t>& values) {
    const std::string name = "i" + std::to_string(proto_.graph().initializer_size());
    *proto_.mutable_graph()->add_initializer() =
        make_tensor(name, ElementType::Int64, std::vector{static_cast<std::int64_t>(values.size())},
                    std::as_bytes(std::span(values)));
    return name;
  }

  std::string last() const { return values_.back().name; }

  /// What exporters write and a simplifier takes away.
  void add_detour() {
    const Value from = any();
    const int channels = from.channels;
    switch (below(9)) {
      case 0:
        node(below(2) == 0 ? "Mul" : "Add", {from.name, weight({channels, 1, 1})}, channels);
        return;
      case 1:
        node(below(2) == 0 ? "Mul" : "Sub", {from.name, scalar(1.5F)}, channels);
        return;
      case 2:
        node("Identity", {from.name}, channels);
        return;
      case 3:
        ints(node("Transpose", {from.name}, channels), "perm", {0, 2, 3, 1});
        ints(node("Transpose", {last()}, channels), "perm", {0, 3, 1, 2});
        return;
      case 4:
        node("Pad", {from.name, integers({0, 0, 1, 1, 0, 0, 1, 1})}, channels);
        node("Conv", {last(), weight({channels, channels, 3, 3})}, channels);
        return;
      case 5: {
        node("Add", {from.name, scalar(3)}, channels);
        node("Clip", {last(), scalar(0), scalar(6)}, channels);
        node("Mul", {from.name, last()}, channels);
        node("Div", {last(), scalar(6)}, channels);
        return;
      }
      case 6:
        node("Reshape", {from.name, integers({1, channels, -1})}, channels);
        node("Reshape", {last(), integers({1, channels, kSize, kSize})}, channels);
        return;
      case 7:
        node("Shape", {from.name}, channels);
        node("Reshape", {from.name, last()}, channels);
        return;
      case 8:
        node("BatchNormalization",
             {from.name, weight({channels}), weight({channels}), weight({channels}),
              weight({channels}, 3)},
             channels);
        node("Mul", {last(), weight({channels, 1, 1})}, channels);
        node("Add", {last(), weight({1, channels, 1, 1})}, channels);
        return;
      default: {
        ints(node("Conv", {from.name, weight({2, channels, 3, 3}), weight({2})}, 2), "pads",
             {1, 1, 1, 1});
        return;
      }
    }
  }

  void add_step() {
    if (has_detours_ && below(2) == 0) return add_detour_of_one_value();
    const Value from = any();
    switch (below(8)) {
      case 0:
      case 1: {
        const int channels = below(3) + 1;
        std::vector<std::string> inputs = {from.name, weight({channels, from.channels, 1, 1})};
        if (below(2) == 0) inputs.push_back(weight({channels}));
        node("Conv", inputs, channels);
        return;
      }
      case 2:
        node("Relu", {from.name}, from.channels);
        return;
      case 3:
        node("Clip", {from.name, scalar(static_cast<float>(below(2))), scalar(6)}, from.channels);
        return;
      case 4: {
        const Value other = any();
        node("Concat", {from.name, other.name}, from.channels + other.channels);
        auto& axis =
            *proto_.mutable_graph()->mutable_node(proto_.graph().node_size() - 1)->add_attribute();
        axis.set_name("axis");
        axis.set_type(onnx::AttributeProto::INT);
        axis.set_i(1);
        return;
      }
      case 5:
        node("Add", {from.name, from.name}, from.channels);
        return;
      case 6:
        ints(node("MaxPool", {from.name}, from.channels), "kernel_shape", {1, 1});
        return;
      default:
        node("Sigmoid", {from.name}, from.channels);
    }
  }

  /// Values on the way have other shapes than others expect: only the last stays to be read.
  void add_detour_of_one_value() {
    const std::size_t before = values_.size();
    add_detour();
    values_.erase(values_.begin() + static_cast<std::ptrdiff_t>(before), values_.end() - 1);
  }

  void add_output() {
    const Value last = values_.back();
    describe(*proto_.mutable_graph()->add_output(), last.name, {1, last.channels, kSize, kSize});
  }

  std::mt19937 random_;
  bool has_detours_;
  onnx::ModelProto proto_;
  std::vector<Value> values_;
};

}  // namespace

Model random_graph(std::uint32_t seed) { return Model(Generator(seed).run()); }

Model simplifiable_graph(std::uint32_t seed) { return Model(Generator(seed, true).run()); }

}  // namespace qtool::testing
