#include "preprocess/attention_masks.h"

#include <algorithm>
#include <vector>

#include "preprocess/expression.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

/// Next to the lowest float32; a score that is added to it is lost.
constexpr double kLow = -3.3e38;

class MaskWriter {
 public:
  MaskWriter(GraphEditor& graph, SizeFlow& sizes, AttentionNodes& nodes, bool is_contrib)
      : graph_(graph), sizes_(sizes), nodes_(nodes), is_contrib_(is_contrib) {}

  std::string write(const Attention& attention);

 private:
  using Integers = AttentionNodes::Integers;

  std::string unsqueezed(int before, const std::string& value, const Integers& axes);
  std::string with_four_axes(const Attention& attention, const std::string& value);
  std::string masked(const Attention& attention, const AttentionMask& mask,
                     const std::string& bias);
  std::string query_count(const Attention& attention);
  bool has_all_rows(const Attention& attention, const AttentionMask& mask) const;

  GraphEditor& graph_;
  SizeFlow& sizes_;
  AttentionNodes& nodes_;
  bool is_contrib_;
};

std::string MaskWriter::unsqueezed(int before, const std::string& value, const Integers& axes) {
  if (graph_.opset() >= 13)
    return nodes_.add_once(before, "Unsqueeze", {value, nodes_.integers(axes)},
                           value + "_unsqueezed");
  const std::string out = nodes_.add_once(before, "Unsqueeze", {value}, value + "_unsqueezed");
  set_ints(graph_.edit(graph_.producer(out)), "axes", axes);
  return out;
}

/// `value`, that broadcasts to the scores, with the four axes that operators want.
std::string MaskWriter::with_four_axes(const Attention& a, const std::string& value) {
  const auto count = sizes_.axes(value)->size();
  if (count == 1) return unsqueezed(a.softmax, value, {0, 1, 2});
  if (count == 2) return unsqueezed(a.softmax, value, {0, 1});
  return count == 3 ? unsqueezed(a.softmax, value, {a.rank == 4 ? 0 : 1}) : value;
}

/// What `mask` makes of `bias`, which is added to the scores; empty for nothing.
std::string MaskWriter::masked(const Attention& a, const AttentionMask& mask,
                               const std::string& bias) {
  const std::string value = with_four_axes(a, mask.value);
  if (mask.kind == AttentionMask::Kind::Added)
    return bias.empty() ? value : nodes_.add_once(a.softmax, "Add", {bias, value}, value + "_sum");
  const ElementType type = graph_.type(a.scores);
  const std::string kept = bias.empty() ? nodes_.number(0, type) : bias,
                    far = nodes_.number(mask.number, type);
  const bool keeps_true = mask.kind == AttentionMask::Kind::KeptWhereTrue;
  return nodes_.add_once(a.softmax, "Where",
                         {value, keeps_true ? kept : far, keeps_true ? far : kept},
                         value + "_bias");
}

/// The shape to which an Expand gives a mask a row for every query.
std::string MaskWriter::query_count(const Attention& a) {
  const auto scores = sizes_.axes(a.scores);
  const auto count = (*scores)[scores->size() - 2];
  if (const auto known = sizes_.constant(count)) return nodes_.integers({*known, 1});
  // Where two attentions have provably as many queries, one Shape serves both.
  auto& name = nodes_.made("queries " + std::to_string(count));
  if (!name.empty()) return name;
  const bool is_joined = !a.q.joined.value.empty(), is_apart = !a.q.apart.value.empty();
  const Scaled& source = is_joined ? a.q.joined : is_apart ? a.q.apart : a.q.split;
  const std::string shape = nodes_.add(a.softmax, "Shape", {source.value}, source.value + "_shape");
  const std::string queries =
      nodes_.add(a.softmax, "Gather", {shape, nodes_.integers({is_joined || is_apart ? 1 : 2})},
                 shape + "_queries");
  const int concat =
      graph_.add_node(a.softmax, "Concat", {queries, nodes_.integers({1})}, queries + "_by_one");
  set_int(graph_.edit(concat), "axis", 0);
  name = graph_.node(concat).output(0);
  return name;
}

/// Whether a mask has a row for every query.
bool MaskWriter::has_all_rows(const Attention& a, const AttentionMask& mask) const {
  const auto axes = *sizes_.axes(mask.value), scores = *sizes_.axes(a.scores);
  return axes.size() > 1 && axes[axes.size() - 2] == scores[scores.size() - 2];
}

std::string MaskWriter::write(const Attention& a) {
  std::string out;
  for (const AttentionMask& each : a.masks) out = masked(a, each, out);
  const auto is_whole = [&](const AttentionMask& each) { return has_all_rows(a, each); };
  if (out.empty()) return out;
  // ONNX Runtime's Attention makes zeros of a row that is nothing but the lowest number.
  if (!is_contrib_) {
    const std::string low = nodes_.number(kLow, ElementType::Float);
    out = nodes_.add_once(a.softmax, "Max", {out, low}, out + "_clipped");
  }
  if (std::ranges::any_of(a.masks, is_whole)) return out;
  return nodes_.add_once(a.softmax, "Expand", {out, query_count(a)}, out + "_expanded");
}

}  // namespace

std::string write_masks(GraphEditor& graph, SizeFlow& sizes, AttentionNodes& nodes,
                        const Attention& attention, bool is_contrib) {
  return MaskWriter(graph, sizes, nodes, is_contrib).write(attention);
}

}  // namespace qtool
