#include <algorithm>
#include <cstddef>
#include <ranges>
#include <utility>

#include "model/body_runs.h"
#include "model/graph_view.h"
#include "preprocess/loop_types.h"
#include "preprocess/shape_inference.h"
#include "preprocess/value_type.h"

namespace qtool {
namespace {

/// Inputs of a Loop, and of its body, before those that it carries: how often, and whether.
constexpr int kLoopControls = 2;

onnx::GraphProto* body_of(onnx::NodeProto& node, std::string_view name) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == name && attribute.has_g()) return attribute.mutable_g();
  }
  return nullptr;
}

/// A body that says nothing of the types in it: some are those of the first round alone.
onnx::GraphProto without_types(const onnx::GraphProto& body) {
  onnx::GraphProto out = body;
  for_each_graph(out, [](onnx::GraphProto& graph) {
    graph.clear_value_info();
    for (auto& value : *graph.mutable_input()) value.clear_type();
    for (auto& value : *graph.mutable_output()) value.clear_type();
  });
  return out;
}

}  // namespace

/// Whether the node is an If or a Loop of which more is known than ONNX's rules ask.
bool ShapeInference::infer_bodies(onnx::NodeProto& node, const onnx::OpSchema& schema,
                                  onnx::InferenceContext& context) {
  const auto constant = [this](const std::string& name) {
    const auto* found = constants_.find(name);
    return found ? *found : nullptr;
  };
  if (const auto condition = constant_condition(node, constant)) {
    infer_branches(node, *condition, context);
    return true;
  }
  // Trials of loops inside others would multiply.
  if (node.op_type() != "Loop" || !is_default_domain(node.domain()) || is_trial_) return false;
  infer_loop(node, schema, context);
  if (const auto rounds = constant_round_count(node, constant))
    set_stacked_size(node, *rounds, context);
  return true;
}

/// What the branch that runs gives is what the If gives, whatever the other would.
void ShapeInference::infer_branches(onnx::NodeProto& node, bool condition,
                                    onnx::InferenceContext& context) {
  for (const bool is_then : {true, false}) {
    auto* branch = body_of(node, is_then ? "then_branch" : "else_branch");
    if (!branch) continue;
    const auto types = infer_subgraph(*branch, {});
    const std::size_t count = is_then == condition ? context.getNumOutputs() : 0;
    for (std::size_t i = 0; i < std::min(count, types.size()); ++i)
      *context.getOutputType(i) = *types[i];
  }
}

/// ONNX's rule takes every size that a loop carries for one that may change.
void ShapeInference::infer_loop(onnx::NodeProto& node, const onnx::OpSchema& schema,
                                onnx::InferenceContext& context) {
  auto* body = body_of(node, "body");
  const auto carried = body ? carried_types(node, *body) : std::vector<onnx::TypeProto>();
  const int given = body ? body->input_size() - kLoopControls : 0;
  for (int i = 0; i < std::min(given, static_cast<int>(carried.size())); ++i)
    give_type(*body->mutable_input(i + kLoopControls), carried[static_cast<std::size_t>(i)]);
  schema.GetTypeAndShapeInferenceFunction()(context);
  for (std::size_t i = 0; i < std::min(carried.size(), context.getNumOutputs()); ++i) {
    if (is_typed(carried[i])) *context.getOutputType(i) = carried[i];
  }
}

std::vector<onnx::TypeProto> ShapeInference::carried_types(const onnx::NodeProto& node,
                                                           const onnx::GraphProto& body) {
  std::vector<onnx::TypeProto> initial;
  for (const auto& input : node.input() | std::views::drop(kLoopControls)) {
    const auto* type = types_.find(input);
    const bool is_tensor = type && (*type)->has_tensor_type();
    initial.push_back(is_tensor ? **type : onnx::TypeProto());
  }
  onnx::TypeProto number, condition;
  number.mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  condition.mutable_tensor_type()->set_elem_type(onnx::TensorProto::BOOL);
  const auto symbols = symbols_;
  is_trial_ = true;
  auto types = types_of_every_round(std::move(initial), [&](const auto& carried) {
    std::vector<const onnx::TypeProto*> given{&number, &condition};
    for (const auto& type : carried) given.push_back(&type);
    onnx::GraphProto trial = without_types(body);
    std::vector<onnx::TypeProto> made;
    // The first output says whether another round follows.
    for (const auto* type : infer_subgraph(trial, given) | std::views::drop(1))
      made.push_back(*type);
    return made;
  });
  is_trial_ = false;
  symbols_ = symbols;
  return types;
}

/// What a Loop gives of each round, it stacks.
void ShapeInference::set_stacked_size(const onnx::NodeProto& node, std::int64_t rounds,
                                      onnx::InferenceContext& context) {
  const auto inputs = static_cast<std::size_t>(std::max(kLoopControls, node.input_size()));
  for (std::size_t i = inputs - kLoopControls; i < context.getNumOutputs(); ++i) {
    auto& type = *context.getOutputType(i);
    if (!type.has_tensor_type() || type.tensor_type().shape().dim_size() == 0) continue;
    type.mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(rounds);
  }
}

}  // namespace qtool
