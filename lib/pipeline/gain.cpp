#include "pipeline/gain.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "model/graph_view.h"
#include "pipeline/calibration_samples.h"
#include "preprocess/preprocess.h"

namespace qtool {
namespace {

/// The first sample's inputs; none where there is no folder, or one that calibration will refuse.
std::vector<NamedTensor> first_inputs(const Config& config, const Model& model) {
  if (!config.calibration.data) return {};
  // The calibration to come says what is converted, and lists all samples.
  const std::function<void(const std::string&)> quiet = [](const std::string&) {};
  Config first = config;
  first.calibration.max_samples = 1;
  try {
    const auto folder = open_sample_folder(*config.calibration.data, first, model, quiet);
    if (folder->size() == 0) return {};
    return folder->read(0).inputs;
  } catch (const Error&) {
    return {};
  }
}

/// The model with inputs of these sizes. What it states for free sizes would hide what follows.
Model sized(const Model& model, const std::vector<NamedTensor>& inputs) {
  Model out = model.clone();
  out.graph().clear_value_info();
  for (auto& value : *out.graph().mutable_input()) {
    for (const NamedTensor& input : inputs) {
      if (input.name != value.name()) continue;
      auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
      shape.clear_dim();
      for (const std::int64_t size : input.tensor.shape) shape.add_dim()->set_dim_value(size);
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
                                          const Model& prepared, const Planner& planner) {
  const std::vector<NamedTensor> inputs = first_inputs(config, prepared);
  const Model planned = folded(sized(prepared, inputs));
  const QuantPlan plan = planner.draft(planned);
  // Without preprocessing both differ by what ONNX Runtime folds by itself.
  const CostForecast found = config.preprocess.enabled
                                 ? forecast_cost(folded(sized(original, inputs)), planned, plan)
                                 : forecast_cost(planned, planned, plan);
  std::size_t nodes = 0;
  for_each_graph(planned.graph(), [&](const onnx::GraphProto& graph) {
    nodes += static_cast<std::size_t>(graph.node_size());
  });
  if (found.unknown_nodes * 2 > nodes) return std::nullopt;
  return found;
}

}  // namespace qtool
