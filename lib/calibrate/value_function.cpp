#include "calibrate/value_function.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "model/graph_view.h"
#include "model/messages.h"
#include "model/scalar_constant.h"

namespace qtool {
namespace {

using Apply = std::function<float(float)>;

/// Functions of more operators than this are not followed further: each is applied to thousands of
/// values, and a product of two applies both.
constexpr int kMaxOperators = 16;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A value as a function of one that is recorded.
struct Form {
  std::string_view source;
  Apply apply;
  int operators = 0;
};

float identity(float x) { return x; }

struct Context {
  const Model& model;
  const GraphView& graph;
  const onnx::NodeProto& node;

  std::optional<float> number(int slot) const {
    return scalar_constant(model, graph, node.input(slot));
  }
  /// `fallback` where the bound is absent, nothing where it is computed.
  std::optional<float> bound(int slot, const char* attribute, float fallback) const {
    if (model.opset() < 11) return float_attribute(node, attribute, fallback);
    if (node.input_size() <= slot || node.input(slot).empty()) return fallback;
    return number(slot);
  }
};

Apply relu(const Context&) {
  return [](float x) { return std::max(x, 0.0F); };
}

Apply leaky_relu(const Context& context) {
  return [slope = float_attribute(context.node, "alpha", 0.01F)](float x) {
    return x < 0 ? slope * x : x;
  };
}

Apply sigmoid(const Context&) {
  return [](float x) { return 1 / (1 + std::exp(-x)); };
}

Apply hard_sigmoid(const Context& context) {
  const float alpha = float_attribute(context.node, "alpha", 0.2F);
  const float beta = float_attribute(context.node, "beta", 0.5F);
  return [=](float x) { return std::clamp(alpha * x + beta, 0.0F, 1.0F); };
}

Apply hard_swish(const Context&) {
  return [](float x) { return x * std::clamp(x / 6 + 0.5F, 0.0F, 1.0F); };
}

Apply clip(const Context& context) {
  const auto low = context.bound(1, "min", -kInfinity), high = context.bound(2, "max", kInfinity);
  if (!low || !high) return {};
  return [=](float x) { return std::min(std::max(x, *low), *high); };
}

/// An operator of one value; the function is empty where it is not known.
struct Unary {
  std::string_view op_type;
  Apply (*make)(const Context&);
};
constexpr auto kUnary = std::to_array<Unary>({{"Clip", clip},
                                              {"HardSigmoid", hard_sigmoid},
                                              {"HardSwish", hard_swish},
                                              {"LeakyRelu", leaky_relu},
                                              {"Relu", relu},
                                              {"Sigmoid", sigmoid}});

/// An operator of two values, one of which may be a number.
struct Binary {
  std::string_view op_type;
  float (*apply)(float, float);
};
constexpr auto kBinary = std::to_array<Binary>({{"Add", [](float a, float b) { return a + b; }},
                                                {"Div", [](float a, float b) { return a / b; }},
                                                {"Mul", [](float a, float b) { return a * b; }},
                                                {"Sub", [](float a, float b) { return a - b; }}});

class Search {
 public:
  Search(const Model& model, std::span<const std::string> tensors)
      : model_(model), graph_(model.graph()), recorded_(tensors.begin(), tensors.end()) {}

  std::map<std::string, ValueFunction> run() {
    for (const auto& input : model_.graph().input()) start(input.name());
    for (const auto& node : model_.graph().node()) visit(node);
    return std::move(found_);
  }

 private:
  /// A recorded value that is made of no other one. Shorter floats round each step, which the
  /// functions do not.
  void start(std::string_view value) {
    const ElementType type = graph_.type_of(value);
    const bool is_float32 = type == ElementType::Float || type == ElementType::Undefined;
    if (is_float32 && recorded_.contains(value)) forms_[value] = {value, identity, 0};
  }

  void visit(const onnx::NodeProto& node) {
    auto form =
        node.output_size() == 1 && is_default_domain(node.domain()) ? form_of(node) : std::nullopt;
    if (!form || form->operators > kMaxOperators) {
      for (const std::string& output : node.output()) start(output);
      return;
    }
    const std::string& output = node.output(0);
    if (recorded_.contains(output)) found_[output] = {std::string(form->source), form->apply};
    forms_[output] = std::move(*form);
  }

  std::optional<Form> form_of(const onnx::NodeProto& node) const {
    if (const auto* row = std::ranges::find(kUnary, node.op_type(), &Unary::op_type);
        row != kUnary.end())
      return unary(*row, node);
    if (const auto* row = std::ranges::find(kBinary, node.op_type(), &Binary::op_type);
        row != kBinary.end() && node.input_size() == 2)
      return binary(*row, node);
    return std::nullopt;
  }

  const Form* form_at(const onnx::NodeProto& node, int slot) const {
    const auto found = forms_.find(node.input(slot));
    return found == forms_.end() ? nullptr : &found->second;
  }

  std::optional<Form> unary(const Unary& row, const onnx::NodeProto& node) const {
    const Form* x = node.input_size() > 0 ? form_at(node, 0) : nullptr;
    const Apply outer = x ? row.make({model_, graph_, node}) : Apply();
    if (!outer) return std::nullopt;
    return Form{x->source, [outer, inner = x->apply](float v) { return outer(inner(v)); },
                x->operators + 1};
  }

  std::optional<Form> binary(const Binary& row, const onnx::NodeProto& node) const {
    const Form *a = form_at(node, 0), *b = form_at(node, 1);
    const auto apply = row.apply;
    // What divides may be zero.
    if (b && row.op_type == "Div") return std::nullopt;
    if (a && b) {
      if (a->source != b->source) return std::nullopt;
      return Form{a->source,
                  [apply, f = a->apply, g = b->apply](float v) { return apply(f(v), g(v)); },
                  a->operators + b->operators + 1};
    }
    if (!a && !b) return std::nullopt;
    const int slot = a ? 0 : 1;
    const auto number = number_beside(node, slot);
    if (!number) return std::nullopt;
    const Form& x = a ? *a : *b;
    Apply out = [apply, f = x.apply, n = *number, slot](float v) {
      return slot == 0 ? apply(f(v), n) : apply(n, f(v));
    };
    return Form{x.source, std::move(out), x.operators + 1};
  }

  /// A number of a higher rank would give the result another shape, though no other values.
  std::optional<float> number_beside(const onnx::NodeProto& node, int slot) const {
    return scalar_constant(model_, graph_, node.input(1 - slot));
  }

  const Model& model_;
  const GraphView graph_;
  std::unordered_set<std::string_view> recorded_;
  std::unordered_map<std::string_view, Form> forms_;
  std::map<std::string, ValueFunction> found_;
};

}  // namespace

std::map<std::string, ValueFunction> value_functions(const Model& model,
                                                     std::span<const std::string> tensors) {
  return Search(model, tensors).run();
}

TensorStatistics statistics_of(const ValueFunction& function, const TensorStatistics& source) {
  TensorStatistics out;
  out.nonfinite_count = source.nonfinite_count;
  out.sample_count = source.sample_count;
  const Density density = source.density();
  for (const DensityBin& bin : density.bins) {
    const auto [low, high] = std::minmax({function.apply(bin.low), function.apply(bin.high)});
    if (std::isfinite(low) && std::isfinite(high))
      out.add_spread(low, high, bin.count);
    else
      out.nonfinite_count += bin.count;
  }
  return out;
}

}  // namespace qtool
