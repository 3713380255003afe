#include "preprocess/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "preprocess/node_values.h"

namespace qtool {
namespace {

using Perm = std::vector<std::int64_t>;

/// Added to a score it leaves nothing of it, so that adding and replacing come to the same.
constexpr double kSwallowsScores = -1e20;

/// One hides what comes later, one what only fills the batch.
constexpr int kMaxMasks = 2;

const Perm kSwapHeads{0, 2, 1, 3};

class Search {
 public:
  Search(const GraphEditor& graph, SizeFlow& sizes) : graph_(graph), sizes_(sizes) {}

  AttentionSearch run(int index);

 private:
  bool read_scores(const std::string& value, int max_masks, Attention& out) const;
  std::vector<std::pair<std::string, AttentionMask>> maskings(int index) const;
  bool read_product(const std::string& value, Attention& out) const;
  bool read_operands(int scores, Attention& out) const;
  std::string read_sizes(Attention& out) const;
  void read_output(Attention& out) const;
  std::string mask_obstacle(const Attention& attention, const AttentionMask& each) const;

  bool is_over_last_axis(int softmax) const;
  bool is_read_once(const std::string& value) const;
  Scaled unscaled(Scaled value) const;
  std::string before_transpose(const std::string& value, const Perm& perm) const;
  std::string swapped_apart(const std::string& value) const;
  bool joins(const std::string& three, const std::string& four) const;
  AttentionOperand from_apart(const Scaled& apart, bool unscales) const;
  AttentionOperand from_split(const Scaled& split, bool unscales) const;
  std::optional<AttentionOperand> keys(const std::string& swapped) const;
  std::size_t rank(const std::string& value) const {
    const auto axes = sizes_.axes(value);
    return axes ? axes->size() : 0;
  }
  /// The size of an axis where it is the same in every run, else -1.
  std::int64_t size(const std::string& value, std::size_t axis) const {
    const auto axes = sizes_.axes(value);
    return axes && axis < axes->size() ? sizes_.constant((*axes)[axis]).value_or(-1) : -1;
  }

  const GraphEditor& graph_;
  SizeFlow& sizes_;
};

/// Whether one node reads a value, beside Shapes by which masks are stretched.
bool Search::is_read_once(const std::string& value) const {
  const auto uses = graph_.uses(value);
  const auto others = std::ranges::count_if(uses, [&](const Use& use) {
    if (!graph_.is(use.node, "Shape")) return true;
    const auto stretch = graph_.sole_use(graph_.node(use.node).output(0));
    return !stretch || stretch->slot != 1 || !graph_.is(stretch->node, "Expand");
  });
  return others == 1 && graph_.use_count(value) == static_cast<int>(uses.size());
}

bool Search::is_over_last_axis(int softmax) const {
  const auto& node = graph_.node(softmax);
  const auto count = static_cast<std::int64_t>(rank(node.input(0)));
  const std::int64_t axis = int_attribute(node, "axis", graph_.opset() < 13 ? 1 : -1);
  return count > 0 && front_axis(axis, count) == count - 1;
}

Scaled Search::unscaled(Scaled value) const {
  for (;;) {
    const Scaled inner = scaled(graph_, value.value);
    if (inner.value == value.value) return value;
    value = {inner.value, value.factor * inner.factor};
  }
}

std::string Search::before_transpose(const std::string& value, const Perm& perm) const {
  const int index = graph_.producer(value, "Transpose");
  const bool fits = index >= 0 && permutation_of(graph_.node(index), perm.size()) == perm;
  return fits ? graph_.node(index).input(0) : "";
}

/// Whether [a, b, c * d] and [a, b, c, d] hold the same in the same order.
bool Search::joins(const std::string& three, const std::string& four) const {
  const auto a = sizes_.axes(three), b = sizes_.axes(four);
  if (!a || !b || a->size() != 3 || b->size() != 4) return false;
  const std::int64_t joined = size(three, 2), heads = size(four, 2), each = size(four, 3);
  const bool is_rest_equal = (*a)[0] == (*b)[0] || (*a)[1] == (*b)[1];
  return joined > 0 && heads > 0 && each > 0 && joined == heads * each && is_rest_equal;
}

AttentionOperand Search::from_apart(const Scaled& apart, bool unscales) const {
  AttentionOperand out;
  out.apart = unscales ? unscaled(apart) : apart;
  const int reshape = graph_.producer(out.apart.value, "Reshape");
  if (reshape < 0) return out;
  const std::string& before = graph_.node(reshape).input(0);
  if (!joins(before, out.apart.value)) return out;
  out.joined = {before, out.apart.factor};
  if (unscales) out.joined = unscaled(out.joined);
  return out;
}

AttentionOperand Search::from_split(const Scaled& split, bool unscales) const {
  const Scaled whole = unscales ? unscaled(split) : split;
  const std::string before = before_transpose(whole.value, kSwapHeads);
  AttentionOperand out;
  if (!before.empty()) out = from_apart({before, whole.factor}, unscales);
  out.split = whole;
  return out;
}

/// [a, b, c, d] of which `value` is [a, b, d, c] by way of [a * b, c, d]; empty where it is not.
std::string Search::swapped_apart(const std::string& value) const {
  const int behind = graph_.producer(value, "Reshape");
  if (behind < 0) return "";
  const std::string flat = before_transpose(graph_.node(behind).input(0), {0, 2, 1});
  const int ahead = flat.empty() ? -1 : graph_.producer(flat, "Reshape");
  if (ahead < 0) return "";
  const std::string& source = graph_.node(ahead).input(0);
  const auto from = sizes_.axes(source), by = sizes_.axes(flat), to = sizes_.axes(value);
  if (!from || !by || !to || from->size() != 4 || by->size() != 3 || to->size() != 4) return "";
  const bool keeps_last = (*by)[1] == (*from)[2] && (*by)[2] == (*from)[3] &&
                          (*to)[2] == (*from)[3] && (*to)[3] == (*from)[2];
  const bool keeps_first = (*to)[0] == (*from)[0] || (*to)[1] == (*from)[1];
  return keeps_last && keeps_first ? source : "";
}

/// The keys whose last two axes are swapped in `swapped`.
std::optional<AttentionOperand> Search::keys(const std::string& swapped) const {
  const Scaled whole = unscaled({swapped, 1});
  if (rank(whole.value) == 3) {
    const std::string before = before_transpose(whole.value, {0, 2, 1});
    if (before.empty()) return std::nullopt;
    AttentionOperand out;
    out.joined = unscaled({before, whole.factor});
    return out;
  }
  if (const auto apart = before_transpose(whole.value, {0, 2, 3, 1}); !apart.empty())
    return from_apart({apart, whole.factor}, true);
  std::string split = before_transpose(whole.value, {0, 1, 3, 2});
  if (split.empty()) split = swapped_apart(whole.value);
  if (split.empty()) return std::nullopt;
  return from_split({split, whole.factor}, true);
}

bool Search::read_operands(int scores, Attention& out) const {
  const auto& node = graph_.node(scores);
  const std::size_t axes = rank(node.output(0));
  if (axes != rank(node.input(0)) || axes != rank(node.input(1)) || (axes != 3 && axes != 4))
    return false;
  const auto found = keys(node.input(1));
  if (!found) return false;
  out.scores = node.output(0);
  out.rank = static_cast<int>(axes);
  out.k = *found;
  if (axes == 4) {
    out.q = from_split({node.input(0), 1}, true);
  } else {
    out.q.joined = unscaled({node.input(0), 1});
  }
  return true;
}

/// A product of queries and keys, which a number may multiply.
bool Search::read_product(const std::string& value, Attention& out) const {
  if (!is_read_once(value)) return false;
  const Scaled inner = scaled(graph_, value);
  const int product = graph_.producer(inner.value, "MatMul");
  if (product < 0 || !is_read_once(inner.value) || !read_operands(product, out)) return false;
  out.scale = inner.factor;
  return true;
}

/// What node `index` may be masking, and with what.
std::vector<std::pair<std::string, AttentionMask>> Search::maskings(int index) const {
  const auto& node = graph_.node(index);
  using Kind = AttentionMask::Kind;
  if (graph_.is(index, "Add"))
    return {{node.input(0), {Kind::Added, node.input(1), 0}},
            {node.input(1), {Kind::Added, node.input(0), 0}}};
  if (!graph_.is(index, "Where")) return {};
  const int expand = graph_.producer(node.input(0), "Expand");
  const std::string& condition = expand >= 0 ? graph_.node(expand).input(0) : node.input(0);
  std::vector<std::pair<std::string, AttentionMask>> out;
  for (const int slot : {1, 2}) {
    const auto number = graph_.scalar(node.input(3 - slot));
    if (!number || !(*number <= kSwallowsScores)) continue;
    const Kind kind = slot == 1 ? Kind::KeptWhereTrue : Kind::KeptWhereFalse;
    out.push_back({node.input(slot), {kind, condition, *number}});
  }
  return out;
}

/// softmax's argument: a product, which up to `max_masks` masks hide.
bool Search::read_scores(const std::string& value, int max_masks, Attention& out) const {
  if (read_product(value, out)) return true;
  const int index = graph_.producer(value);
  if (max_masks == 0 || index < 0 || !is_read_once(value)) return false;
  for (const auto& [masked, mask] : maskings(index)) {
    // A mask of more axes would broadcast the scores, and what they are multiplied with.
    if (rank(masked) != rank(value) || !read_scores(masked, max_masks - 1, out)) continue;
    out.masks.push_back(mask);
    return true;
  }
  return false;
}

/// Takes in heads and sizes; the obstacle where they are not known or do not agree.
std::string Search::read_sizes(Attention& out) const {
  const auto& product = graph_.node(out.product);
  out.value_size = size(product.input(1), static_cast<std::size_t>(out.rank) - 1);
  const auto size_of = [&](const AttentionOperand& operand, bool wants_heads) {
    if (!operand.split.value.empty()) return size(operand.split.value, wants_heads ? 1 : 3);
    if (!operand.apart.value.empty()) return size(operand.apart.value, wants_heads ? 2 : 3);
    return wants_heads ? 1 : size(operand.joined.value, 2);
  };
  out.size = size_of(out.q, false);
  out.heads = size_of(out.q, true);
  if (out.size <= 0 || out.heads <= 0 || out.value_size <= 0 || size_of(out.k, false) != out.size)
    return "heads or their sizes are not known";
  const std::int64_t value_heads = out.rank == 4 ? size(product.input(1), 1) : 1;
  if (size_of(out.k, true) != out.heads || value_heads != out.heads)
    return "queries, keys and values differ in heads";
  const std::int64_t batch = size(out.scores, 0), values = size(product.input(1), 0);
  const bool is_one_batch = batch == values || (batch < 0 && values < 0);
  return is_one_batch ? "" : "queries, keys and values differ in their batch";
}

/// The mask must broadcast to [batch, heads, queries, keys], and to no more than that.
std::string Search::mask_obstacle(const Attention& attention, const AttentionMask& each) const {
  const auto mask = sizes_.axes(each.value);
  const auto count = static_cast<std::size_t>(attention.rank);
  if (!mask || mask->empty() || mask->size() > count) return "the rank of the mask is not known";
  const std::size_t missing = count - mask->size();
  for (std::size_t axis = missing; axis < count; ++axis) {
    const std::int64_t given = size(each.value, axis - missing);
    const std::int64_t wanted = size(attention.scores, axis);
    const bool may_stretch = axis + 1 < count;
    // Beside more than one head, a free number of them is that or one.
    const bool is_free = (given < 0 && (axis != 1 || wanted != 1 || count < 4)) || wanted < 0;
    const bool fits = given == wanted || (given == 1 && may_stretch) || is_free;
    if (!fits) return "the mask has a shape that the operator does not take";
  }
  return "";
}

/// The nodes behind that put the heads together.
void Search::read_output(Attention& out) const {
  const std::string& product = graph_.node(out.product).output(0);
  const auto use = out.rank == 4 ? graph_.sole_use(product) : std::nullopt;
  if (!use || !graph_.is(use->node, "Transpose") ||
      permutation_of(graph_.node(use->node), 4) != kSwapHeads)
    return;
  out.transpose = use->node;
  const auto next = graph_.sole_use(graph_.node(use->node).output(0));
  if (next && next->slot == 0 && graph_.is(next->node, "Reshape")) out.reshape = next->node;
}

/// Whether what multiplies the scores is a number that operators take: 0 stands for their default.
bool is_scale(const Attention& attention) {
  const auto& [q, k] = std::pair(attention.q, attention.k);
  return std::ranges::all_of(
      std::array{attention.scale, q.split.factor, q.apart.factor, q.joined.factor, k.split.factor,
                 k.apart.factor, k.joined.factor},
      [](double factor) { return factor > 0 && std::isfinite(factor); });
}

AttentionSearch Search::run(int index) {
  Attention out;
  out.softmax = index;
  const auto& node = graph_.node(index);
  const auto use = graph_.sole_use(node.output(0));
  if (!use || use->slot != 0 || !graph_.is(use->node, "MatMul") || !is_over_last_axis(index))
    return {};
  if (!read_scores(node.input(0), kMaxMasks, out)) return {};
  out.product = use->node;
  const std::string& values = graph_.node(use->node).input(1);
  if (rank(values) != static_cast<std::size_t>(out.rank)) return {};
  if (out.rank == 4) {
    out.v = from_split({values, 1}, false);
  } else {
    out.v.joined = {values, 1};
  }
  if (!is_scale(out)) return {};
  std::string obstacle = read_sizes(out);
  for (const auto& mask : out.masks) {
    if (obstacle.empty()) obstacle = mask_obstacle(out, mask);
  }
  if (!obstacle.empty()) return {std::nullopt, std::move(obstacle)};
  read_output(out);
  return {std::move(out), ""};
}

}  // namespace

AttentionSearch find_attention(const GraphEditor& graph, SizeFlow& sizes, int index) {
  return Search(graph, sizes).run(index);
}

}  // namespace qtool
