#include "float16/block_reasons.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "config/node_selector.h"
#include "float16/bodies.h"
#include "float16/exact_numbers.h"
#include "float16/planner.h"

namespace qtool {
namespace {

/// The smallest number that float16 has in full precision.
constexpr double kSmallestNormal = 0x1p-14;

/// The values of a float32 constant that is small enough to be looked at; else none.
std::vector<float> small_constant(const ModelIndex& index, int value) {
  constexpr std::size_t kMaxElements = 1 << 16;
  if (value < 0) return {};
  const IndexedValue& entry = index.value(value);
  const bool is_known = entry.constant != nullptr && entry.is_float() && !entry.is_input;
  if (!is_known || element_count(*entry.constant) > kMaxElements) return {};
  return to_float32(index.model().tensor(*entry.constant));
}

bool is_below_normal(const std::vector<float>& values) {
  return std::ranges::any_of(
      values, [](float value) { return value != 0 && std::fabs(value) < kSmallestNormal; });
}

bool is_above(const std::vector<float>& values, double limit) {
  return std::ranges::any_of(
      values, [&](float value) { return std::isfinite(value) && std::fabs(value) > limit; });
}

/// The one number of a constant; 0 where it has several or none.
double single_constant(const ModelIndex& index, int value) {
  const std::vector<float> values = small_constant(index, value);
  return values.size() == 1 && std::isfinite(values[0]) ? std::fabs(values[0]) : 0;
}

/// Whether a factor is so small that float16 has not enough digits for it, or none.
bool is_lost_factor(double size) {
  constexpr double kAllowed = 1.0 / 512;
  constexpr double kStep = 0x1p-24;
  if (size == 0 || size >= kSmallestNormal) return false;
  return std::fabs(std::round(size / kStep) * kStep - size) > kAllowed * size;
}

/// Why the constants of a node would not survive float16.
std::string constant_reason(const ModelIndex& index, const IndexedNode& node,
                            const Float16Config& config) {
  const auto input = [&](std::size_t slot) {
    return slot < node.inputs.size() ? node.inputs[slot] : -1;
  };
  // A factor that is too large is one of a mask, or its products are too large as well.
  const bool is_lost =
      node.is("Mul") ? is_lost_factor(single_constant(index, input(0))) ||
                           is_lost_factor(single_constant(index, input(1)))
                     : node.is("Div") && single_constant(index, input(1)) > config.max_finite_val;
  if (is_lost) return "float16 does not hold its constant factor";
  if (node.is("BatchNormalization")) {
    bool is_held = !is_below_normal(small_constant(index, input(4)));
    for (std::size_t slot = 1; slot <= 4; ++slot)
      is_held &= !is_above(small_constant(index, input(slot)), config.max_finite_val);
    if (!is_held) return "float16 does not hold its parameters";
  }
  const bool is_scaled = node.is("DequantizeLinear") || node.is("QuantizeLinear");
  if (is_scaled && is_below_normal(small_constant(index, input(1))))
    return "float16 does not hold its scales";
  return "";
}

class Reasons {
 public:
  Reasons(const ModelIndex& index, const Float16Config& config, const std::set<int>& kept)
      : index_(index),
        config_(config),
        kept_(kept),
        is_exact_(nodes_with_exact_numbers(index)),
        blocked_names_(config.node_block_list, names_of_nodes(index)),
        blocked_types_(config.op_block_list.value_or(default_op_block_list())) {}

  std::vector<std::string> run() {
    for (int i = 0; i < static_cast<int>(index_.nodes().size()); ++i) reasons_.push_back(reason(i));
    return std::move(reasons_);
  }

 private:
  std::string reason(int number) const {
    const IndexedNode& node = index_.node(number);
    if (const int holder = index_.graphs()[static_cast<std::size_t>(node.graph)].holder;
        holder >= 0 && !reasons_[static_cast<std::size_t>(holder)].empty())
      return "it is in the body of a node that stays in float32";
    if (kept_.contains(number)) return "its outputs would be too far off";
    if (blocked_names_.contains(node.proto->name())) return "it is in node_block_list";
    if (std::ranges::find(blocked_types_, node.proto->op_type()) != blocked_types_.end()) {
      return config_.op_block_list ? "its type is in op_block_list"
                                   : "its type is in the built-in list";
    }
    if (!node.bodies.empty() && !has_linked_bodies(node)) return "its body needs float32";
    if (!has_linked_bodies(node) && touches_container(node))
      return "sequences and optionals stay in float32";
    if (is_exact_[static_cast<std::size_t>(number)]) return "it computes with counts or positions";
    return config_.type == "float16" ? constant_reason(index_, node, config_) : "";
  }

  bool touches_container(const IndexedNode& node) const {
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const int value : *list)
        if (value >= 0 && index_.value(value).is_float_container()) return true;
    }
    return false;
  }

  const ModelIndex& index_;
  const Float16Config& config_;
  const std::set<int>& kept_;
  std::vector<bool> is_exact_;
  NodeSelector blocked_names_;
  std::vector<std::string> blocked_types_;
  std::vector<std::string> reasons_;
};

}  // namespace

std::vector<std::string> names_of_nodes(const ModelIndex& index) {
  std::vector<std::string> names;
  for (const IndexedNode& node : index.nodes()) names.push_back(node.proto->name());
  return names;
}

std::vector<std::string> block_reasons(const ModelIndex& index, const Float16Config& config,
                                       const std::set<int>& kept) {
  return Reasons(index, config, kept).run();
}

}  // namespace qtool
