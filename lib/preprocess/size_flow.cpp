#include "preprocess/size_flow.h"

#include <algorithm>
#include <string_view>

#include "base/checked.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

/// Operators that change no axis of their first input.
constexpr std::string_view kSameShape[] = {
    "Abs",
    "Cast",
    "Ceil",
    "Clip",
    "CumSum",
    "DequantizeLinear",
    "Dropout",
    "DynamicQuantizeLinear",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "InstanceNormalization",
    "LayerNormalization",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "Neg",
    "Not",
    "QuantizeLinear",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Sigmoid",
    "Sign",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Tanh",
    "Trilu",
};
/// The same of ONNX Runtime's own.
constexpr std::string_view kSameShapeContrib[] = {"FastGelu", "Gelu", "QuickGelu"};
constexpr std::string_view kReductions[] = {"ReduceL1",   "ReduceL2",  "ReduceMax",
                                            "ReduceMean", "ReduceMin", "ReduceSum"};
constexpr std::string_view kBroadcasts[] = {"Add",  "And", "Div", "Equal", "Greater",
                                            "Less", "Max", "Min", "Mod",   "Mul",
                                            "Or",   "Pow", "Sub", "Where"};
constexpr std::string_view kCopiesElements[] = {"Cast", "Identity", "Squeeze", "Unsqueeze"};
constexpr std::string_view kArithmetic[] = {"Add", "Div", "Max", "Min", "Mod", "Mul", "Sub"};

template <std::size_t N>
bool is_one_of(const std::string& op_type, const std::string_view (&list)[N]) {
  return std::ranges::find(list, op_type) != std::end(list);
}

bool is_integer(ElementType type) {
  return type == ElementType::Int64 || type == ElementType::Int32;
}

}  // namespace

SizeFlow::Size SizeFlow::fresh() { return next_++; }

SizeFlow::Size SizeFlow::constant_size(std::int64_t value) {
  const auto [entry, is_new] = constants_.try_emplace(value, next_);
  if (is_new) numbers_[next_++] = value;
  return entry->second;
}

SizeFlow::Size SizeFlow::derived(const std::string& op_type, Size a, Size b) {
  const auto [entry, is_new] = derived_.try_emplace({op_type, a, b}, next_);
  if (is_new) ++next_;
  return entry->second;
}

std::optional<std::int64_t> SizeFlow::constant(Size size) const {
  const auto found = numbers_.find(size);
  return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<SizeFlow::Sizes> SizeFlow::axes(const std::string& value) {
  if (const auto known = axes_.find(value); known != axes_.end()) return known->second;
  const auto shape = graph_.shape(value);
  if (!shape) return std::nullopt;
  Sizes sizes;
  for (const std::int64_t size : *shape) sizes.push_back(size < 0 ? fresh() : constant_size(size));
  return axes_[value] = sizes;
}

std::optional<SizeFlow::Sizes> SizeFlow::elements(const std::string& value) {
  if (const auto known = elements_.find(value); known != elements_.end()) return known->second;
  const auto* tensor = graph_.constant(value);
  const auto values = tensor && tensor->dims_size() <= 1 ? graph_.integers(value) : std::nullopt;
  if (!values) return std::nullopt;
  Sizes sizes;
  for (const std::int64_t each : *values) sizes.push_back(constant_size(each));
  return elements_[value] = sizes;
}

void SizeFlow::visit(int index) {
  const auto& node = graph_.node(index);
  const bool is_known =
      is_default_domain(node.domain()) ||
      (node.domain() == "com.microsoft" && is_one_of(node.op_type(), kSameShapeContrib));
  if (!is_known || node.output_size() == 0 || node.output(0).empty()) return;
  const std::string& output = node.output(0);
  const auto known = graph_.shape(output);
  if (auto sizes = axes_of(node)) {
    const bool agrees = !known || known->size() == sizes->size();
    for (std::size_t i = 0; known && agrees && i < sizes->size(); ++i) {
      if ((*known)[i] >= 0) (*sizes)[i] = constant_size((*known)[i]);
    }
    if (agrees) axes_[output] = *sizes;
  }
  if (auto sizes = elements_of(node)) elements_[output] = *sizes;
}

std::optional<SizeFlow::Sizes> SizeFlow::axes_of(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  if (node.input_size() == 0) return std::nullopt;
  if (is_one_of(op, kSameShape) || is_one_of(op, kSameShapeContrib)) return axes(node.input(0));
  if (is_one_of(op, kReductions)) return reduced(node);
  if (is_one_of(op, kBroadcasts)) return broadcast(node);
  if (op == "Transpose") return transposed(node);
  if (op == "MatMul" || op == "MatMulInteger") return product(node);
  if (op == "Gemm") return matrix_product(node);
  if (op == "Reshape") return reshaped(node);
  if (op == "Squeeze") return without_axes(node);
  if (op == "Unsqueeze") return with_axes(node);
  if (op == "Conv" || op == "MaxPool" || op == "AveragePool" || op == "GlobalAveragePool") {
    const auto data = axes(node.input(0));
    auto made = axes(node.output(0));
    if (data && made && !data->empty() && !made->empty()) made->front() = data->front();
    return made;
  }
  return std::nullopt;
}

std::optional<SizeFlow::Sizes> SizeFlow::broadcast(const onnx::NodeProto& node) {
  std::optional<Sizes> out;
  const Size one = constant_size(1);
  for (const auto& input : node.input()) {
    auto next = axes(input);
    if (!next) return std::nullopt;
    if (!out) {
      out = next;
      continue;
    }
    if (next->size() > out->size()) std::swap(*next, *out);
    const std::size_t missing = out->size() - next->size();
    for (std::size_t i = 0; i < next->size(); ++i) {
      Size& a = (*out)[missing + i];
      const Size b = (*next)[i];
      if (a == b || b == one) continue;
      const auto number_a = constant(a), number_b = constant(b);
      // A number other than 1 is what the other side must be, or be stretched to.
      if (a == one || (number_b && *number_b != 1)) {
        a = b;
      } else if (!number_a) {
        a = fresh();
      }
    }
  }
  return out;
}

std::optional<SizeFlow::Sizes> SizeFlow::transposed(const onnx::NodeProto& node) {
  const auto data = axes(node.input(0));
  if (!data) return std::nullopt;
  Sizes out;
  for (const std::int64_t axis : permutation_of(node, data->size()))
    out.push_back((*data)[static_cast<std::size_t>(axis)]);
  return out.size() == data->size() ? std::optional(out) : std::nullopt;
}

std::optional<SizeFlow::Sizes> SizeFlow::product(const onnx::NodeProto& node) {
  const auto a = node.input_size() >= 2 ? axes(node.input(0)) : std::nullopt;
  const auto b = a ? axes(node.input(1)) : std::nullopt;
  if (!b || a->size() < 2 || b->size() < 2 || b->size() > a->size()) return std::nullopt;
  Sizes out = *a;
  out.back() = b->back();
  const std::size_t missing = a->size() - b->size();
  const Size one = constant_size(1);
  for (std::size_t i = missing; i + 2 < a->size(); ++i) {
    const Size other = (*b)[i - missing];
    if (out[i] != other && other != one) out[i] = out[i] == one ? other : fresh();
  }
  return out;
}

std::optional<SizeFlow::Sizes> SizeFlow::matrix_product(const onnx::NodeProto& node) {
  const auto a = axes(node.input(0)), b = axes(node.input(1));
  if (!a || !b || a->size() != 2 || b->size() != 2) return std::nullopt;
  const bool a_is_turned = int_attribute(node, "transA", 0) != 0;
  const bool b_is_turned = int_attribute(node, "transB", 0) != 0;
  return Sizes{(*a)[a_is_turned ? 1 : 0], (*b)[b_is_turned ? 0 : 1]};
}

std::optional<SizeFlow::Sizes> SizeFlow::reshaped(const onnx::NodeProto& node) {
  auto target = node.input_size() == 2 ? elements(node.input(1)) : std::nullopt;
  if (!target) return std::nullopt;
  const auto data = axes(node.input(0));
  const bool copies_zero = int_attribute(node, "allowzero", 0) == 0;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < target->size(); ++i) {
    const auto number = constant((*target)[i]);
    if (number == 0 && copies_zero) {
      (*target)[i] = data && i < data->size() ? (*data)[i] : fresh();
    } else if (number && *number < 0) {
      open = i;
    }
  }
  if (open) {
    Sizes others = *target;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(*open));
    (*target)[*open] = data ? quotient(*data, others) : fresh();
  }
  return target;
}

/// The product of some sizes divided by that of others, where that is a number or one of them.
SizeFlow::Size SizeFlow::quotient(Sizes sizes, const Sizes& divisors) {
  std::int64_t dividend = 1, divisor = 1;
  for (const Size each : divisors) {
    const auto number = constant(each);
    const auto same = number ? sizes.end() : std::ranges::find(sizes, each);
    if (number && *number > 0) {
      divisor = checked_mul(divisor, *number).value_or(0);
    } else if (same != sizes.end()) {
      sizes.erase(same);
    } else {
      return fresh();
    }
  }
  std::erase_if(sizes, [&](Size each) {
    const auto number = constant(each);
    if (number) dividend = checked_mul(dividend, *number).value_or(0);
    return number.has_value();
  });
  if (dividend <= 0 || divisor <= 0 || dividend % divisor != 0) return fresh();
  if (sizes.empty()) return constant_size(dividend / divisor);
  return sizes.size() == 1 && dividend == divisor ? sizes.front() : fresh();
}

std::optional<SizeFlow::Sizes> SizeFlow::without_axes(const onnx::NodeProto& node) {
  const auto data = axes(node.input(0));
  const auto gone = integers_of(graph_, node, 1, "axes");
  if (!data || !gone) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(data->size());
  Sizes out;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const auto is_it = [&](std::int64_t each) { return front_axis(each, rank) == axis; };
    if (std::ranges::none_of(*gone, is_it)) out.push_back((*data)[static_cast<std::size_t>(axis)]);
  }
  return out;
}

std::optional<SizeFlow::Sizes> SizeFlow::reduced(const onnx::NodeProto& node) {
  auto out = axes(node.input(0));
  const auto gone = integers_of(graph_, node, 1, "axes");
  if (!out || !gone || gone->empty() || int_attribute(node, "keepdims", 1) == 0)
    return std::nullopt;
  for (const std::int64_t each : *gone) {
    const std::int64_t axis = front_axis(each, static_cast<std::int64_t>(out->size()));
    if (axis < 0) return std::nullopt;
    (*out)[static_cast<std::size_t>(axis)] = constant_size(1);
  }
  return out;
}

std::optional<SizeFlow::Sizes> SizeFlow::with_axes(const onnx::NodeProto& node) {
  const auto data = axes(node.input(0));
  const auto added = integers_of(graph_, node, 1, "axes");
  if (!data || !added) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(data->size() + added->size());
  Sizes out;
  std::size_t next = 0;
  for (std::int64_t axis = 0; axis < rank; ++axis) {
    const auto is_it = [&](std::int64_t each) { return front_axis(each, rank) == axis; };
    if (std::ranges::any_of(*added, is_it)) {
      out.push_back(constant_size(1));
    } else if (next < data->size()) {
      out.push_back((*data)[next++]);
    }
  }
  return out;
}

std::optional<SizeFlow::Sizes> SizeFlow::elements_of(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  if (op == "Shape") return shape(node);
  if (node.input_size() == 0 || !is_integer(graph_.type(node.output(0)))) return std::nullopt;
  const auto made = graph_.shape(node.output(0));
  if (made && made->size() > 1) return std::nullopt;
  if (op == "Gather") return gathered(node);
  if (op == "Slice") return sliced(node);
  if (op == "Concat") return joined(node);
  // Fractions lose their value when they become integers.
  if (op == "Cast" && !is_integer(graph_.type(node.input(0)))) return std::nullopt;
  if (is_one_of(op, kCopiesElements)) return elements(node.input(0));
  if (op == "Reshape" && made) return elements(node.input(0));
  if (is_one_of(op, kArithmetic)) return computed(node);
  return std::nullopt;
}

std::optional<SizeFlow::Sizes> SizeFlow::shape(const onnx::NodeProto& node) {
  const auto whole = node.input_size() == 1 ? axes(node.input(0)) : std::nullopt;
  if (!whole) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(whole->size());
  const auto place = [&](const char* name, std::int64_t fallback) {
    const std::int64_t index = int_attribute(node, name, fallback);
    return std::clamp<std::int64_t>(index < 0 ? index + rank : index, 0, rank);
  };
  const std::int64_t start = place("start", 0), end = std::max(start, place("end", rank));
  return Sizes(whole->begin() + start, whole->begin() + end);
}

std::optional<SizeFlow::Sizes> SizeFlow::gathered(const onnx::NodeProto& node) {
  const auto from = node.input_size() == 2 ? elements(node.input(0)) : std::nullopt;
  const auto* tensor = from ? graph_.constant(node.input(1)) : nullptr;
  const auto indices =
      tensor && tensor->dims_size() <= 1 ? graph_.integers(node.input(1)) : std::nullopt;
  if (!indices) return std::nullopt;
  Sizes out;
  for (const std::int64_t index : *indices) {
    const std::int64_t place = front_axis(index, static_cast<std::int64_t>(from->size()));
    if (place < 0) return std::nullopt;
    out.push_back((*from)[static_cast<std::size_t>(place)]);
  }
  return out;
}

std::optional<SizeFlow::Sizes> SizeFlow::sliced(const onnx::NodeProto& node) {
  const auto from = elements(node.input(0));
  const auto slice = from ? slice_of(graph_, node) : std::nullopt;
  if (!slice || slice->starts.size() != 1 || slice->steps[0] != 1) return std::nullopt;
  const auto size = static_cast<std::int64_t>(from->size());
  const auto place = [&](std::int64_t index) {
    return std::clamp<std::int64_t>(index < 0 ? index + size : index, 0, size);
  };
  const std::int64_t start = place(slice->starts[0]);
  const std::int64_t end = std::max(start, place(slice->ends[0]));
  return Sizes(from->begin() + start, from->begin() + end);
}

std::optional<SizeFlow::Sizes> SizeFlow::joined(const onnx::NodeProto& node) {
  Sizes out;
  for (const auto& input : node.input()) {
    if (const auto part = elements(input)) {
      out.insert(out.end(), part->begin(), part->end());
      continue;
    }
    const auto shape = graph_.shape(input);
    if (!shape || shape->size() != 1 || (*shape)[0] < 0 || (*shape)[0] > 16) return std::nullopt;
    for (std::int64_t i = 0; i < (*shape)[0]; ++i) out.push_back(fresh());
  }
  return out;
}

std::optional<SizeFlow::Sizes> SizeFlow::computed(const onnx::NodeProto& node) {
  const auto a = node.input_size() == 2 ? elements(node.input(0)) : std::nullopt;
  const auto b = a ? elements(node.input(1)) : std::nullopt;
  if (!b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return std::nullopt;
  Sizes out;
  for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i)
    out.push_back(
        derived(node.op_type(), (*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  return out;
}

}  // namespace qtool
