#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "preprocess/attention.h"
#include "preprocess/attention_masks.h"
#include "preprocess/attention_nodes.h"
#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

/// The opset that brings Attention.
constexpr std::int64_t kAttentionOpset = 23;

/// Between [batch, length, heads, size] and [batch, heads, length, size].
constexpr std::array<std::int64_t, 4> kSwapHeads{0, 2, 1, 3};

using Integers = AttentionNodes::Integers;

/// Whether an infinite constant goes into `value` by way of a few nodes.
bool reads_infinity(const GraphEditor& graph, const std::string& value, int max_nodes) {
  if (graph.constant(value)) {
    const auto numbers = graph.floats(value);
    return numbers && std::ranges::any_of(*numbers, [](double each) { return std::isinf(each); });
  }
  const int index = graph.producer(value);
  if (index < 0 || max_nodes == 0) return false;
  return std::ranges::any_of(graph.node(index).input(), [&](const std::string& input) {
    return !input.empty() && reads_infinity(graph, input, max_nodes - 1);
  });
}

AttentionSearch search(const GraphEditor& graph, SizeFlow& sizes, int softmax, bool is_contrib) {
  constexpr int kMaxNodes = 5;
  AttentionSearch out = find_attention(graph, sizes, softmax);
  if (!out.found) return out;
  const ElementType type = graph.type(out.found->scores);
  if (type != ElementType::Float && type != ElementType::Float16) return {};
  if (is_contrib && type != ElementType::Float)
    return {std::nullopt, "MultiHeadAttention computes in float32 only"};
  // Where a row is hidden whole, float16 loses the scores that float32 keeps.
  if (type == ElementType::Float16 && !out.found->masks.empty())
    return {std::nullopt, "Attention adds a mask of float16 in float32"};
  if (!is_contrib && out.found->masks.size() > 1)
    return {std::nullopt, "rows that two masks hide may sum up to -inf and NaN, of Attention zero"};
  const auto is_infinite = [&](const AttentionMask& mask) {
    return std::isinf(mask.number) || reads_infinity(graph, mask.value, kMaxNodes);
  };
  if (!is_contrib && std::ranges::any_of(out.found->masks, is_infinite))
    return {std::nullopt, "rows that a mask of -inf hides are NaN, of Attention zero"};
  return out;
}

/// Visits every Softmax of a graph whose sizes are known as far as they can be.
template <typename Visit>
bool visit_softmaxes(Model& model, const Visit& visit) {
  return edit_graphs(model, {"Softmax"}, [&](GraphEditor& graph) {
    SizeFlow sizes(graph);
    const int count = graph.node_count();
    for (int i = 0; i < count; ++i) sizes.visit(i);
    visit(graph, sizes, count);
  });
}

/// Writes attentions of one graph as operators.
class Writer {
 public:
  Writer(GraphEditor& graph, SizeFlow& sizes) : graph_(graph), sizes_(sizes) {}

  void write(const Attention& attention, bool is_contrib);

 private:
  /// The operator's inputs, and what it computes besides.
  struct Form {
    Scaled q, k, v;
    bool has_heads_joined = false;
  };
  Form standard_form(const Attention& attention);
  Form contrib_form(const Attention& attention);
  Scaled joined(const AttentionOperand& operand, const Attention& attention, std::int64_t size,
                int before);
  Scaled split(const AttentionOperand& operand, int before);

  void become(int index, const Attention& attention, const Form& form, const std::string& mask);
  bool is_joining(const Attention& attention) const;
  bool takes_joined(const Attention& attention) const;

  std::string transposed(int before, const std::string& value);
  std::string reshaped(int before, const std::string& value, const Integers& shape);

  GraphEditor& graph_;
  SizeFlow& sizes_;
  AttentionNodes nodes_{graph_};
  bool is_contrib_ = false;  ///< what is written now
};

std::string Writer::transposed(int before, const std::string& value) {
  const int index = graph_.add_node(before, "Transpose", {value}, value + "_transposed");
  set_ints(graph_.edit(index), "perm", kSwapHeads);
  return graph_.node(index).output(0);
}

std::string Writer::reshaped(int before, const std::string& value, const Integers& shape) {
  return nodes_.add(before, "Reshape", {value, nodes_.integers(shape)}, value + "_reshaped");
}

/// [batch, length, heads * size]
Scaled Writer::joined(const AttentionOperand& operand, const Attention& attention,
                      std::int64_t size, int before) {
  if (!operand.joined.value.empty()) return operand.joined;
  Scaled apart = operand.apart;
  if (apart.value.empty()) apart = {transposed(before, operand.split.value), operand.split.factor};
  return {reshaped(before, apart.value, {0, 0, attention.heads * size}), apart.factor};
}

/// [batch, heads, length, size]
Scaled Writer::split(const AttentionOperand& operand, int before) {
  if (!operand.split.value.empty()) return operand.split;
  return {transposed(before, operand.apart.value), operand.apart.factor};
}

Writer::Form Writer::standard_form(const Attention& a) {
  const bool are_joined =
      !a.q.joined.value.empty() && !a.k.joined.value.empty() && !a.v.joined.value.empty();
  if (a.rank == 3 || (are_joined && takes_joined(a)))
    return {a.q.joined, a.k.joined, a.v.joined, true};
  return {split(a.q, a.softmax), split(a.k, a.softmax), split(a.v, a.product), false};
}

Writer::Form Writer::contrib_form(const Attention& a) {
  const Scaled q = joined(a.q, a, a.size, a.softmax);
  const bool are_joined = !a.k.joined.value.empty() && !a.v.joined.value.empty();
  // Keys and values of four axes are taken as they are, if of one size.
  if (are_joined || a.size != a.value_size)
    return {q, joined(a.k, a, a.size, a.softmax), joined(a.v, a, a.value_size, a.product), true};
  return {q, split(a.k, a.softmax), split(a.v, a.product), true};
}

void Writer::become(int index, const Attention& a, const Form& form, const std::string& mask) {
  graph_.become(index, is_contrib_ ? "MultiHeadAttention" : "Attention");
  std::vector<std::string> inputs{form.q.value, form.k.value, form.v.value};
  if (!mask.empty() && is_contrib_) inputs.insert(inputs.end(), {"", ""});
  if (!mask.empty()) inputs.push_back(mask);
  graph_.set_inputs(index, inputs);
  auto& node = graph_.edit(index);
  if (is_contrib_) {
    node.set_domain("com.microsoft");
    set_int(node, "num_heads", a.heads);
  } else if (form.has_heads_joined) {
    set_int(node, "q_num_heads", a.heads);
    set_int(node, "kv_num_heads", a.heads);
  }
  const double scale = a.scale * form.q.factor * form.k.factor;
  if (!is_close(scale, 1 / std::sqrt(static_cast<double>(a.size))))
    set_float(node, "scale", static_cast<float>(scale));
  ensure_name(graph_, index);
}

/// Whether the Reshape behind joins the heads and nothing else.
bool Writer::is_joining(const Attention& a) const {
  const auto made = sizes_.axes(graph_.node(a.reshape).output(0));
  const auto scores = sizes_.axes(a.scores), from = sizes_.axes(graph_.node(a.transpose).output(0));
  return made && made->size() == 3 &&
         ((*made)[0] == (*scores)[0] || (*made)[1] == (*scores)[2] ||
          (from && ((*made)[0] == (*from)[0] || (*made)[1] == (*from)[1]))) &&
         sizes_.constant((*made)[2]) == a.heads * a.value_size;
}

/// Whether what reads the result can read it with the heads joined.
bool Writer::takes_joined(const Attention& a) const {
  if (a.reshape < 0) return false;
  if (is_joining(a)) return true;
  const auto target = graph_.integers(graph_.node(a.reshape).input(1));
  return target && std::ranges::find(*target, 0) == target->end();
}

void Writer::write(const Attention& a, bool is_contrib) {
  is_contrib_ = is_contrib;
  const Form form = is_contrib_ ? contrib_form(a) : standard_form(a);
  const std::string mask = write_masks(graph_, sizes_, nodes_, a, is_contrib_);
  if (a.rank == 3 || !form.has_heads_joined) return become(a.product, a, form, mask);
  if (takes_joined(a) && is_joining(a)) return become(a.reshape, a, form, mask);
  const bool is_reshaped = takes_joined(a);
  const std::string result = graph_.node(a.product).output(0);
  const int made =
      graph_.add_node(is_reshaped ? a.transpose : a.product, "", {}, result + "_joined");
  become(made, a, form, mask);
  const std::string value = graph_.node(made).output(0);
  if (is_reshaped) return graph_.set_input(a.reshape, 0, value);
  const std::string apart = reshaped(a.product, value, {0, 0, a.heads, a.value_size});
  graph_.become(a.product, "Transpose");
  graph_.set_inputs(a.product, {apart});
  set_ints(graph_.edit(a.product), "perm", kSwapHeads);
}

}  // namespace

bool fuse_attention(Model& model, Operators which) {
  const bool is_old = model.opset() < kAttentionOpset;
  const bool may_contrib = which == Operators::Contrib;
  if (is_old && !may_contrib) return false;
  bool uses_contrib = false;
  const bool changed = visit_softmaxes(model, [&](GraphEditor& graph, SizeFlow& sizes, int count) {
    Writer writer(graph, sizes);
    for (int i = 0; i < count; ++i) {
      if (!graph.is(i, "Softmax")) continue;
      bool is_contrib = is_old;
      auto found = search(graph, sizes, i, is_contrib).found;
      if (!found && !is_old && may_contrib) {
        is_contrib = true;
        found = search(graph, sizes, i, is_contrib).found;
      }
      if (found) writer.write(*found, is_contrib);
      uses_contrib |= found && is_contrib;
    }
  });
  if (uses_contrib) import_contrib(model);
  return changed;
}

PatternCount count_attention(Model& model) {
  PatternCount out;
  visit_softmaxes(model, [&](GraphEditor& graph, SizeFlow& sizes, int count) {
    for (int i = 0; i < count; ++i) {
      if (!graph.is(i, "Softmax")) continue;
      const auto each = search(graph, sizes, i, model.opset() < kAttentionOpset);
      if (each.found) ++out.found;
      if (!each.obstacle.empty()) ++out.obstacles[each.obstacle];
    }
  });
  return out;
}

}  // namespace qtool
