#include "preprocess/expression.h"

#include <algorithm>
#include <cmath>

namespace qtool {
namespace {

constexpr int kMaxDepth = 8;

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial out{};
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= out.size()) return std::nullopt;
      out[i + j] += a[i] * b[j];
    }
  }
  return out;
}

Polynomial sum(Polynomial a, const Polynomial& b, double factor) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i] * factor;
  return a;
}

bool is_number(const Polynomial& a) { return a[1] == 0 && a[2] == 0 && a[3] == 0; }

std::optional<Polynomial> power(const Polynomial& base, double exponent) {
  const auto count = static_cast<int>(exponent);
  if (exponent != count || count < 1 || count > 3) return std::nullopt;
  std::optional<Polynomial> out = base;
  for (int i = 1; out && i < count; ++i) out = product(*out, base);
  return out;
}

class Reader {
 public:
  Reader(const GraphEditor& graph, const std::string& x) : graph_(graph), x_(x) {}

  std::optional<Polynomial> read(const std::string& value, int depth) const {
    if (value == x_) return Polynomial{0, 1, 0, 0};
    if (const auto* tensor = graph_.constant(value)) {
      const auto number = tensor->dims_size() <= 1 ? graph_.scalar(value) : std::nullopt;
      return number ? std::optional(Polynomial{*number, 0, 0, 0}) : std::nullopt;
    }
    const int index = graph_.producer(value);
    if (index < 0 || depth == 0 || graph_.is_removed(index)) return std::nullopt;
    const auto& node = graph_.node(index);
    if (!is_default_domain(node.domain()) || node.input_size() != 2) return std::nullopt;
    const std::string& op = node.op_type();
    if (op != "Add" && op != "Sub" && op != "Mul" && op != "Div" && op != "Pow")
      return std::nullopt;
    const auto a = read(node.input(0), depth - 1);
    const auto b = a ? read(node.input(1), depth - 1) : std::nullopt;
    if (!b) return std::nullopt;
    if (op == "Add") return sum(*a, *b, 1);
    if (op == "Sub") return sum(*a, *b, -1);
    if (op == "Mul") return product(*a, *b);
    if (!is_number(*b) || (*b)[0] == 0) return std::nullopt;
    return op == "Div" ? product(*a, {1 / (*b)[0], 0, 0, 0}) : power(*a, (*b)[0]);
  }

 private:
  const GraphEditor& graph_;
  const std::string& x_;
};

}  // namespace

std::optional<double> number_beside(const GraphEditor& graph, int index, int slot) {
  const auto& node = graph.node(index);
  if (node.input_size() != 2) return std::nullopt;
  const std::string& name = node.input(1 - slot);
  const auto number = graph.scalar(name);
  if (!number) return std::nullopt;
  const int axes = graph.constant(name)->dims_size();
  const auto shape = axes > 0 ? graph.shape(node.input(slot)) : std::nullopt;
  const bool keeps_shape = axes == 0 || (shape && static_cast<int>(shape->size()) >= axes);
  return keeps_shape ? number : std::nullopt;
}

Scaled scaled(const GraphEditor& graph, const std::string& value) {
  const int index = graph.producer(value);
  if (graph.is(index, "Mul")) {
    for (const int slot : {0, 1}) {
      if (const auto number = number_beside(graph, index, slot))
        return {graph.node(index).input(slot), *number};
    }
  } else if (graph.is(index, "Div")) {
    if (const auto number = number_beside(graph, index, 0); number && *number != 0)
      return {graph.node(index).input(0), 1 / *number};
  }
  return {value, 1};
}

std::optional<Polynomial> polynomial_of(const GraphEditor& graph, const std::string& value,
                                        const std::string& x) {
  return Reader(graph, x).read(value, kMaxDepth);
}

bool is_close(double a, double b) {
  return std::fabs(a - b) <= 1e-5 * std::max(std::fabs(a), std::fabs(b));
}

bool is_single_or_half(const GraphEditor& graph, const std::string& value) {
  const ElementType type = graph.type(value);
  return type == ElementType::Float || type == ElementType::Float16;
}

void ensure_name(GraphEditor& graph, int index) {
  const auto& node = graph.node(index);
  if (node.name().empty()) graph.edit(index).set_name(node.output(0) + "_" + node.op_type());
}

}  // namespace qtool
