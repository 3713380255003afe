#include "quantize/onnxruntime/range_sources.h"

namespace qtool {

RangeSources::RangeSources(const GraphView& graph, const TensorRanges* ranges,
                           const QuantizationConfig& config,
                           const std::function<bool(int)>& takes_part)
    : ranges_(ranges) {
  const bool has_unit_interval = config.activation_type != QuantType::Float8E4M3FN;
  for (int index = 0; index < graph.node_count(); ++index) {
    const auto& node = graph.node(index);
    const std::string& op_type = node.op_type();
    const bool is_clamp = op_type == "Relu" || op_type == "Clip";
    if ((!is_clamp && op_type != "Softmax") || !takes_part(index)) continue;
    if (node.input_size() == 0 || node.output_size() == 0) continue;
    if (!is_clamp) {
      // A scale of float8 comes from the spread of the values, which a range says nothing of.
      if (has_unit_interval) replaced_[node.output(0)] = {};
      continue;
    }
    const std::string& input = node.input(0);
    // What leaves the graph, or a subgraph reads, is not clamped.
    if (graph.uses_of(input).size() != 1 || graph.is_graph_output(input) ||
        graph.is_captured(input) || !has_range(node.output(0))) {
      continue;
    }
    replaced_[input] = source(node.output(0));
  }
}

bool RangeSources::has_range(const std::string& tensor) const {
  return is_draft() || ranges_->contains(tensor) || replaced_.contains(tensor);
}

RangeSources::Source RangeSources::source(const std::string& tensor) const {
  const auto found = replaced_.find(tensor);
  return found == replaced_.end() ? Source{tensor} : found->second;
}

std::optional<std::string> RangeSources::measured(const std::string& tensor) const {
  Source found = source(tensor);
  return found.tensor.empty() ? std::nullopt : std::optional(std::move(found.tensor));
}

std::optional<Range> RangeSources::range(const std::string& tensor) const {
  const auto name = measured(tensor);
  if (!name || is_draft()) return Range{0, 1};
  const auto found = ranges_->find(*name);
  return found == ranges_->end() ? std::nullopt : std::optional(found->second);
}

}  // namespace qtool
