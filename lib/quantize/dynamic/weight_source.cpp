#include "quantize/dynamic/weight_source.h"

#include <utility>

#include "model/model.h"

namespace qtool {
namespace {

/// As many nodes are looked through.
constexpr int kMaxSteps = 4;

bool is_float(ElementType type) {
  return type == ElementType::Float || type == ElementType::Float16 ||
         type == ElementType::BFloat16;
}

bool swaps_last_axes(const onnx::NodeProto& node, std::int64_t rank) {
  const onnx::AttributeProto* perm = find_attribute(node, "perm");
  if (perm == nullptr) return rank == 2;
  if (rank < 2 || perm->ints_size() != rank) return false;
  for (std::int64_t i = 0; i < rank; ++i) {
    const std::int64_t expected = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (perm->ints(static_cast<int>(i)) != expected) return false;
  }
  return true;
}

/// Notes what `node` does; false where the integers cannot do it.
bool look_through(const onnx::NodeProto& node, int& transpositions,
                  std::vector<const onnx::NodeProto*>& transposes, ElementType& type) {
  if (node.input_size() != 1 || !is_default_domain(node.domain())) return false;
  if (node.op_type() == "Identity") return true;
  if (node.op_type() == "Transpose") {
    ++transpositions;
    transposes.push_back(&node);
    return true;
  }
  if (node.op_type() != "Cast") return false;
  const auto to = static_cast<ElementType>(int_attribute(node, "to", 0));
  if (!is_float(to)) return false;
  // The cast nearest to the reader decides.
  if (type == ElementType::Undefined) type = to;
  return true;
}

}  // namespace

std::vector<std::int64_t> WeightSource::shape() const {
  std::vector<std::int64_t> out(constant.tensor->dims().begin(), constant.tensor->dims().end());
  if (is_transposed) std::swap(out.back(), out[out.size() - 2]);
  return out;
}

std::optional<WeightSource> weight_source(const GraphScopes& scopes, std::string_view name) {
  WeightSource out;
  int transpositions = 0;
  std::vector<const onnx::NodeProto*> transposes;
  std::string current(name);
  for (int step = 0; step <= kMaxSteps; ++step) {
    if (const auto constant = scopes.constant(current)) {
      out.constant = *constant;
      const std::int64_t rank = constant->tensor->dims_size();
      for (const auto* node : transposes)
        if (!swaps_last_axes(*node, rank)) return std::nullopt;
      out.is_transposed = transpositions % 2 != 0;
      if (out.type == ElementType::Undefined) out.type = element_type(*constant->tensor);
      return out;
    }
    const auto producer = scopes.producer(current);
    if (!producer || !look_through(*producer->node, transpositions, transposes, out.type))
      return std::nullopt;
    out.bypassed.push_back({producer->graph, current});
    current = producer->node->input(0);
  }
  return std::nullopt;
}

}  // namespace qtool
