#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/checked.h"
#include "preprocess/expression.h"
#include "preprocess/fusion.h"
#include "preprocess/node_values.h"

namespace qtool {
namespace {

using Shape = GraphEditor::Shape;

/// Larger images are not followed element by element.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 24;

std::optional<std::int64_t> count_of(const std::optional<Shape>& shape) {
  if (!shape || std::ranges::any_of(*shape, [](auto size) { return size <= 0; }))
    return std::nullopt;
  const auto count = checked_element_count(*shape);
  return count && *count <= kMaxElements ? std::optional<std::int64_t>(*count) : std::nullopt;
}

/// Reshapes and Transposes, each read by the next only; from the first to the last.
std::vector<int> chain_to(const GraphEditor& graph, int last) {
  std::vector<int> chain{last};
  for (;;) {
    const std::string& value = graph.node(chain.back()).input(0);
    const int before = graph.producer(value);
    const bool moves = graph.is(before, "Reshape") || graph.is(before, "Transpose");
    if (!moves || !graph.sole_use(value)) break;
    chain.push_back(before);
  }
  std::ranges::reverse(chain);
  return chain;
}

/// Where each element of a transposed tensor comes from, by the places in `from`.
std::vector<std::int32_t> transposed(const std::vector<std::int32_t>& from, const Shape& shape,
                                     const std::vector<std::int64_t>& perm) {
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> strides(rank, 1), index(rank, 0);
  for (std::size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  std::vector<std::int32_t> out(from.size());
  for (auto& each : out) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < rank; ++i) place += index[i] * strides[perm[i]];
    each = from[static_cast<std::size_t>(place)];
    for (std::size_t i = rank; i-- > 0;) {
      if (++index[i] < shape[perm[i]]) break;
      index[i] = 0;
    }
  }
  return out;
}

/// Where each element that the chain makes comes from; empty where that cannot be told.
std::vector<std::int32_t> places(const GraphEditor& graph, const std::vector<int>& chain,
                                 std::int64_t count) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  for (const int index : chain) {
    const auto shape = graph.shape(graph.node(index).input(0));
    if (count_of(shape) != count) return {};
    if (graph.is(index, "Reshape")) continue;
    const auto perm = permutation_of(graph.node(index), shape->size());
    if (perm.size() != shape->size()) return {};
    out = transposed(out, *shape, perm);
  }
  return out;
}

/// The same of SpaceToDepth: [N, C, H/b, b, W/b, b] to [N, b, b, C, H/b, W/b].
std::vector<std::int32_t> space_to_depth(const Shape& in, std::int64_t block) {
  const Shape split{in[0], in[1], in[2] / block, block, in[3] / block, block};
  std::vector<std::int32_t> out(static_cast<std::size_t>(in[0] * in[1] * in[2] * in[3]));
  std::iota(out.begin(), out.end(), 0);
  return transposed(out, split, {0, 3, 5, 1, 2, 4});
}

void fuse(GraphEditor& graph, int last) {
  const auto made = graph.shape(graph.node(last).output(0));
  if (!made || made->size() != 4) return;
  const auto chain = chain_to(graph, last);
  const std::string source = graph.node(chain.front()).input(0);
  const auto in = graph.shape(source);
  const auto count = count_of(in);
  if (chain.size() < 3 || !count || in->size() != 4 || count_of(made) != count) return;
  const std::int64_t block = (*made)[2] > 0 ? (*in)[2] / (*made)[2] : 0;
  const Shape wanted{(*in)[0], (*in)[1] * block * block,
                     (*in)[2] / std::max<std::int64_t>(block, 1),
                     (*in)[3] / std::max<std::int64_t>(block, 1)};
  if (block < 2 || *made != wanted || (*in)[2] % block != 0 || (*in)[3] % block != 0) return;
  if (places(graph, chain, *count) != space_to_depth(*in, block)) return;
  graph.become(last, "SpaceToDepth");
  graph.set_inputs(last, {source});
  set_int(graph.edit(last), "blocksize", block);
  ensure_name(graph, last);
  for (const int index : chain) {
    if (index != last) graph.remove(index);
  }
}

}  // namespace

bool fuse_space_to_depth(Model& model) {
  return edit_graphs(model, {"Reshape"}, [](GraphEditor& graph) {
    for (int i = 0; i < graph.node_count(); ++i) {
      if (graph.is(i, "Reshape")) fuse(graph, i);
    }
  });
}

void import_contrib(Model& model) {
  if (model.opset("com.microsoft") == 0) model.set_opset("com.microsoft", 1);
}

}  // namespace qtool
