#include "quantize/made_up_ranges.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "model/graph_view.h"
#include "quantize/clamps.h"
#include "quantize/rescaling.h"

namespace qtool {
namespace {

/// Around zero, each a little wider than the one before.
Range plain_range(std::size_t index) {
  constexpr std::size_t kWidths = 509;
  const auto width = static_cast<float>(1 + static_cast<double>(index % kWidths) / kWidths);
  return {-1, width};
}

/// Adjusts the ranges of one graph's tensors to the nodes around them.
class GraphRanges {
 public:
  GraphRanges(const Model& model, const GraphView& graph, TensorRanges& ranges)
      : model_(model), graph_(graph), ranges_(ranges), opset_(model.opset()) {}

  void adjust() {
    for (auto& [name, range] : ranges_) {
      if (!graph_.defines(name)) continue;
      const int producer = graph_.producer_of(name);
      if (producer >= 0 && is_clamp(producer)) {
        clamp(producer, range);
      } else if (const auto offset = offset_behind(name)) {
        widen(*offset, range);
      }
    }
  }

 private:
  NodeContext context_of(int index) const { return {graph_.node(index), graph_, model_, opset_}; }

  bool is_clamp(int index) const {
    const std::string& type = graph_.node(index).op_type();
    return type == "Relu" || type == "Clip";
  }

  void clamp(int index, Range& range) const {
    const auto bounds = bounds_of_clamp(context_of(index));
    if (!bounds || !(bounds->min <= bounds->max)) return;
    range.min = std::clamp(range.min, bounds->min, bounds->max);
    range.max = std::clamp(range.max, bounds->min, bounds->max);
  }

  /// So that the offset is many steps and zero behind it lies in the range.
  static void widen(double offset, Range& range) {
    const auto factor = static_cast<float>(2 * std::abs(offset));
    if (!std::isfinite(factor)) return;
    range.min *= factor;
    range.max *= factor;
  }

  /// What is added to a value before anything but factors is done to it, in its own units.
  std::optional<double> offset_behind(const std::string& name) const {
    for (const Use& use : graph_.uses_of(name)) {
      const auto found = rescaling_at(context_of(use.node));
      if (!found || found->slot != use.slot) continue;
      if (found->offset != 0) return found->offset;
      if (const auto behind = offset_behind(graph_.node(use.node).output(0)))
        return *behind / found->factor;
    }
    return std::nullopt;
  }

  const Model& model_;
  const GraphView& graph_;
  TensorRanges& ranges_;
  std::int64_t opset_;
};

void adjust(const Model& model, const onnx::GraphProto& graph, const GraphView* outer,
            TensorRanges& ranges) {
  const GraphView view(graph, outer);
  GraphRanges(model, view, ranges).adjust();
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) adjust(model, attribute.g(), &view, ranges);
    }
  }
}

}  // namespace

TensorRanges made_up_ranges(const Model& model, std::span<const std::string> tensors) {
  TensorRanges ranges;
  for (std::size_t index = 0; index < tensors.size(); ++index)
    ranges.emplace(tensors[index], plain_range(index));
  adjust(model, model.graph(), nullptr, ranges);
  return ranges;
}

}  // namespace qtool
