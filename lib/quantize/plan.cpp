#include "quantize/plan.h"

#include <algorithm>
#include <fmt/format.h>

namespace qtool {

std::vector<std::int64_t> stored_shape(const QuantParams& params) {
  if (params.block_size > 0) return params.block_shape;
  if (!params.axis) return {};
  return {static_cast<std::int64_t>(params.scales.size())};
}

const QuantParams& params_seen_by(const TensorPlan& plan, Use reader) {
  if (!plan.conversion) return plan.params;
  const auto is_reader = [&](const Use& use) {
    return use.node == reader.node && use.slot == reader.slot;
  };
  return std::ranges::any_of(plan.conversion->uses, is_reader) ? plan.conversion->params
                                                               : plan.params;
}

const onnx::GraphProto& body_graph(const onnx::GraphProto& graph, const BodyPlan& body) {
  return graph.node(body.node).attribute(body.attribute).g();
}

namespace {

void collect_tensors(const QuantPlan& plan, std::vector<const TensorPlan*>& out) {
  for (const TensorPlan& tensor : plan.tensors) out.push_back(&tensor);
  for (const BodyPlan& body : plan.bodies) collect_tensors(body.plan, out);
}

std::string indented(const std::string& text) {
  std::string out;
  bool is_line_start = true;
  for (const char each : text) {
    if (is_line_start) out += "  ";
    out += each;
    is_line_start = each == '\n';
  }
  return out;
}

}  // namespace

std::vector<const TensorPlan*> all_tensors(const QuantPlan& plan) {
  std::vector<const TensorPlan*> out;
  collect_tensors(plan, out);
  return out;
}

std::string to_text(const QuantPlan& plan) {
  std::string out;
  for (const TensorPlan& tensor : plan.tensors) {
    out += fmt::format("{} {}", tensor.name, element_type_name(tensor.params.type));
    if (tensor.params.axis) out += fmt::format(" axis={}", *tensor.params.axis);
    if (tensor.params.block_size > 0) out += fmt::format(" block={}", tensor.params.block_size);
    out += " " + tensor.derivation;
    const auto is_wider = [](double factor) { return factor > 1; };
    if (const auto count = std::ranges::count_if(tensor.widening, is_wider); count > 0)
      out += fmt::format(" wider scale in {} of {}", count, tensor.widening.size());
    if (tensor.equal_scales > 0) out += fmt::format(" by {} equal scales", tensor.equal_scales);
    if (tensor.headroom > 1) out += fmt::format(" {:.2f} times coarser", tensor.headroom);
    if (tensor.conversion) out += ", also " + element_type_name(tensor.conversion->params.type);
    out += "\n";
  }
  for (const FoldedNode& node : plan.folded)
    out += fmt::format("{} folded into {}\n", node.output, node.input);
  for (const TensorPlan& tensor : plan.tensors) {
    if (tensor.source >= 0)
      out += fmt::format("{} absorbed into {}\n", tensor.name,
                         plan.tensors[static_cast<std::size_t>(tensor.source)].name);
  }
  for (const Skipped& skipped : plan.skipped) {
    const std::string& node = skipped.node_name.empty() ? skipped.op_type : skipped.node_name;
    out += fmt::format("{}{} float: {}\n", node, skipped.tensor.empty() ? "" : " " + skipped.tensor,
                       skipped.reason);
  }
  for (const BodyPlan& body : plan.bodies) out += body.name + ":\n" + indented(to_text(body.plan));
  return out;
}

}  // namespace qtool
