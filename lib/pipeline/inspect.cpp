#include "pipeline/inspect.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "inspect/decisions.h"
#include "model/model.h"
#include "pipeline/prepare.h"
#include "quantize/node_filter.h"
#include "quantize/planner.h"

namespace qtool {
namespace {

/// The graph as it would be quantized, and the plan for it.
struct Draft {
  Model model;
  QuantPlan plan;
};

/// What cannot be prepared can still be described: the obstacle goes into the report.
std::optional<Draft> draft(const Model& model, const Config& config, InspectReport& report) {
  try {
    Draft out{model.clone(), {}};
    prepare_for_quantization(out.model, config);
    out.plan = Planner(config.quantization, config.preset).draft(out.model);
    return out;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    report.obstacle = error.what();
    return std::nullopt;
  }
}

NodeExplanation explain(const Model& model, const std::optional<Draft>& prepared,
                        const Config& config, const std::string& name,
                        const std::string& obstacle) {
  if (prepared) {
    const Planner planner(config.quantization, config.preset);
    if (auto found =
            explain_node(prepared->model.graph(), prepared->plan, planner.placement(), name))
      return *found;
    if (auto found = explain_unplanned_node(prepared->model.graph(), name, "lies in a subgraph"))
      return *found;
  }
  const std::string reason = prepared ? "is not in the model after preprocessing" : obstacle;
  if (auto found = explain_unplanned_node(model.graph(), name, reason)) return *found;
  const std::string nearest = nearest_name(name, explainable_names(model.graph()));
  throw Error(ErrorKind::Usage,
              fmt::format("{}: has no node '{}', expected the name of a node or of a node's output",
                          printable(model.path().string()), printable(name, 200)),
              nearest.empty() ? "" : fmt::format("did you mean '{}'?", printable(nearest, 200)));
}

/// Whether a model has integer operators, or pairs that runtimes make some of.
bool is_quantized(const ModelSummary& summary) {
  return std::ranges::any_of(summary.operators, [](const OperatorUse& use) {
    return use.op_type == "DequantizeLinear" || use.op_type.starts_with("QLinear");
  });
}

}  // namespace

InspectReport run_inspect(const Config& config, const std::optional<std::string>& node,
                          const RunContext& context) {
  if (!config.model.input) {
    throw Error(ErrorKind::Usage, "model.input: is not set, expected a model");
  }
  const Model model = load_model(*config.model.input);
  InspectReport report;
  report.model = model_file(model);
  report.summary = summarize(model);
  if (is_quantized(report.summary)) report.kernels = forecast_kernels(model);
  report.preset = config.preset;
  report.preset_reason = context.preset_reason;
  report.lint = lint(model, config.preset);
  report.warnings = check_node_lists(model.graph(), config.quantization, config.preset);
  for (const std::string& warning : report.warnings) context.log.warn("{}", warning);
  const auto prepared = draft(model, config, report);
  if (prepared) report.outcome = outcome_of(prepared->model.graph(), prepared->plan);
  if (node) report.explanation = explain(model, prepared, config, *node, report.obstacle);
  return report;
}

}  // namespace qtool
