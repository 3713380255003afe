#include "pipeline/gain.h"

#include <algorithm>
#include <string>
#include <vector>

#include "model/erase_named.h"
#include "model/graph_view.h"
#include "preprocess/preprocess.h"

namespace qtool {
namespace {

/// Whether an input chooses what a model does rather than being what it works on: a sampling rate,
/// a flag.
bool is_switch(const Tensor& tensor) {
  if (tensor.type == ElementType::Bool) return tensor.element_count() == 1;
  const bool is_whole = tensor.type == ElementType::Int64 || tensor.type == ElementType::Int32;
  return is_whole && tensor.shape.empty();
}

void set_shape(onnx::ValueInfoProto& value, const Tensor& tensor) {
  auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.clear_dim();
  for (const std::int64_t size : tensor.shape) shape.add_dim()->set_dim_value(size);
}

/// The input as a constant.
void bind(onnx::GraphProto& graph, const NamedTensor& input) {
  erase_named(*graph.mutable_input(), {input.name});
  erase_named(*graph.mutable_initializer(), {input.name});
  *graph.add_initializer() =
      make_tensor(input.name, input.tensor.type, input.tensor.shape, input.tensor.bytes);
}

/// The model for inputs of these sizes, with their switches as constants. What it states for free
/// sizes would hide what follows.
Model sized(const Model& model, const std::vector<NamedTensor>& inputs) {
  Model out = model.clone();
  for_each_graph(out.graph(), [](onnx::GraphProto& graph) { graph.clear_value_info(); });
  for (const NamedTensor& input : inputs) {
    if (is_switch(input.tensor)) {
      bind(out.graph(), input);
      continue;
    }
    for (auto& value : *out.graph().mutable_input()) {
      if (value.name() == input.name) set_shape(value, input.tensor);
    }
  }
  return out;
}

/// As ONNX Runtime gets to see it: constants are folded.
Model folded(Model model) {
  PreprocessConfig plain;
  plain.simplify = false;
  preprocess(model, plain, Purpose::Quantizing);
  return model;
}

}  // namespace

std::optional<CostForecast> forecast_gain(const Config& config, const Model& original,
                                          const Model& prepared, const Planner& planner,
                                          const std::vector<NamedTensor>& inputs) {
  const Model planned = folded(sized(prepared, inputs));
  const QuantPlan plan = planner.draft(planned);
  // Without preprocessing both differ by what ONNX Runtime folds by itself.
  const CostForecast found = config.preprocess.enabled
                                 ? forecast_cost(folded(sized(original, inputs)), planned, plan)
                                 : forecast_cost(planned, planned, plan);
  if (found.unknown_nodes * 2 > found.nodes) return std::nullopt;
  return found;
}

}  // namespace qtool
