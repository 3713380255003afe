#include "float16/exact_numbers.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace qtool {
namespace {

/// Operators through which a count stays one; sorted.
constexpr auto kArithmetic = std::to_array<std::string_view>({"Abs",
                                                              "Add",
                                                              "Cast",
                                                              "Ceil",
                                                              "Clip",
                                                              "Concat",
                                                              "Cos",
                                                              "Div",
                                                              "Einsum",
                                                              "Equal",
                                                              "Exp",
                                                              "Expand",
                                                              "Flatten",
                                                              "Floor",
                                                              "Gather",
                                                              "Greater",
                                                              "GreaterOrEqual",
                                                              "Identity",
                                                              "Less",
                                                              "LessOrEqual",
                                                              "Log",
                                                              "MatMul",
                                                              "Max",
                                                              "Min",
                                                              "Mod",
                                                              "Mul",
                                                              "Neg",
                                                              "Pow",
                                                              "Reciprocal",
                                                              "Reshape",
                                                              "Round",
                                                              "Sign",
                                                              "Sin",
                                                              "Slice",
                                                              "Split",
                                                              "Sqrt",
                                                              "Squeeze",
                                                              "Sub",
                                                              "Tile",
                                                              "Transpose",
                                                              "Unsqueeze",
                                                              "Where"});
static_assert(std::ranges::is_sorted(kArithmetic), "keep kArithmetic sorted");

constexpr auto kComparisons =
    std::to_array<std::string_view>({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"});

bool is_one_of(const IndexedNode& node, std::span<const std::string_view> types) {
  return is_default_domain(node.proto->domain()) &&
         std::ranges::find(types, node.proto->op_type()) != types.end();
}

bool is_integer(const IndexedValue& value) {
  switch (value.type) {
    case ElementType::Undefined:
    case ElementType::Float:
    case ElementType::Double:
    case ElementType::Float16:
    case ElementType::BFloat16:
    case ElementType::String:
    case ElementType::Bool:
      return false;
    default:
      return value.kind == IndexedValue::Kind::Tensor;
  }
}

class Search {
 public:
  explicit Search(const ModelIndex& index)
      : index_(index), from_integers_(index.values().size()), found_(index.nodes().size()) {}

  std::vector<bool> run() {
    for (std::size_t i = 0; i < found_.size(); ++i) follow(index_.nodes()[i]);
    // Readers stand behind what they read.
    for (std::size_t i = found_.size(); i-- > 0;) found_[i] = must_be_exact(static_cast<int>(i));
    return std::move(found_);
  }

 private:
  bool comes_from_integers(int value) const {
    return value >= 0 && from_integers_[static_cast<std::size_t>(value)];
  }

  /// Whether all float inputs are such numbers or constants, and one is such a number.
  bool computes_with_them(const IndexedNode& node) const {
    bool any = false;
    for (const int input : node.inputs) {
      if (input < 0 || !index_.value(input).is_float()) continue;
      const bool is_number = comes_from_integers(input);
      if (!is_number && !index_.value(input).is_constant) return false;
      any |= is_number;
    }
    return any;
  }

  bool is_source(const IndexedNode& node) const {
    if (node.is("Range")) return true;
    return node.is("Cast") && node.inputs[0] >= 0 && is_integer(index_.value(node.inputs[0]));
  }

  void follow(const IndexedNode& node) {
    if (!is_source(node) && !(is_one_of(node, kArithmetic) && computes_with_them(node))) return;
    for (const int output : node.outputs) {
      if (output >= 0 && index_.value(output).is_float())
        from_integers_[static_cast<std::size_t>(output)] = true;
    }
  }

  bool must_be_exact(int number) const {
    const IndexedNode& node = index_.node(number);
    const bool is_number_node =
        std::ranges::any_of(node.outputs, [&](int output) { return comes_from_integers(output); });
    if (is_number_node && (node.is("Sin") || node.is("Cos")) && !is_source(node)) return true;
    if (is_one_of(node, kComparisons) && computes_with_them(node)) return true;
    if (!is_number_node) return false;
    return std::ranges::any_of(node.outputs, [&](int output) {
      return output >= 0 && std::ranges::any_of(index_.value(output).uses,
                                                [&](const auto& use) { return is_exact(use); });
    });
  }

  bool is_exact(const IndexedValue::Use& use) const {
    const IndexedNode& reader = index_.node(use.node);
    if (found_[static_cast<std::size_t>(use.node)]) return true;
    if (reader.is("Resize") || reader.is("Upsample")) return use.slot > 0;
    return reader.is("Cast") && is_integer(index_.value(reader.outputs[0]));
  }

  const ModelIndex& index_;
  std::vector<bool> from_integers_;
  std::vector<bool> found_;
};

}  // namespace

std::vector<bool> nodes_with_exact_numbers(const ModelIndex& index) { return Search(index).run(); }

}  // namespace qtool
