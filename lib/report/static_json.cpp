#include "report/static_json.h"

#include <algorithm>
#include <cstdint>

#include "config/describe.h"
#include "report/comparison.h"
#include "report/kernels.h"
#include "report/left_in_float.h"
#include "report/model_json.h"
#include "report/regions.h"
#include "report/run_facts.h"
#include "report/static.h"

namespace qtool {
namespace {

JsonValue calibration_json(const StaticReport& report) {
  const CalibrationConfig& calibration = report.config.calibration;
  JsonObject object;
  switch (report.calibration_source) {
    case CalibrationSource::Data:
      object.add("data", calibration.data);
      break;
    case CalibrationSource::Table:
      object.add("table", calibration.table);
      break;
    case CalibrationSource::Cache:
      object.add("cache", calibration.cache);
      break;
  }
  return object.add("sha256", report.calibration_sha256)
      .add("sample_count", report.sample_count)
      .take();
}

JsonValue runs_json(const Trial& trial) {
  return JsonObject().add("float", trial.float_runs).add("quantized", trial.quantized_runs).take();
}

JsonValue sizes_json(const std::vector<InputSize>& inputs) {
  JsonObject object;
  for (const InputSize& input : inputs) {
    object.add(input.name, json_list(input.shape, [](std::int64_t size) { return to_json(size); }));
  }
  return object.take();
}

JsonValue prediction_json(const Prediction& predicted) {
  if (!predicted.is_known()) return {};
  JsonObject object;
  object.add("by", predicted.trial ? "trial" : "table")
      .add("float_us", predicted.float_us())
      .add("quantized_us", predicted.quantized_us())
      .add("time_ratio", predicted.ratio());
  if (predicted.trial)
    object.add("runs", runs_json(*predicted.trial));
  else
    object.add("unknown_nodes", predicted.forecast->unknown_nodes);
  if (!predicted.inputs.empty()) object.add("inputs", sizes_json(predicted.inputs));
  return object.take();
}

JsonValue tensor_counts_json(const QuantPlan& plan) {
  const auto tensors = all_tensors(plan);
  const auto count = [&](TensorPlan::Role role) {
    return std::ranges::count(tensors, role, &TensorPlan::role);
  };
  return JsonObject()
      .add("activations", count(TensorPlan::Role::Activation))
      .add("constants", count(TensorPlan::Role::Constant))
      .add("biases", count(TensorPlan::Role::Bias))
      .take();
}

JsonValue equalized_json(const EqualizedWeight& weight) {
  return JsonObject()
      .add("weight", weight.name)
      .add("into", weight.into)
      .add("sqnr_before_db", weight.sqnr_before_db)
      .add("sqnr_after_db", weight.sqnr_after_db)
      .take();
}

JsonValue tensor_json(const TensorPlan* tensor) {
  const TensorPlan& plan = *tensor;
  JsonObject object;
  object.add("name", plan.name)
      .add("type", element_type_name(plan.params.type))
      .add("axis", plan.params.axis)
      .add("from", plan.derivation);
  if (plan.params.scales.size() == 1 && plan.params.zero_points.size() == 1) {
    object.add("scale", static_cast<double>(plan.params.scales[0]))
        .add("zero_point", plan.params.zero_points[0]);
  } else {
    object.add("channel_count", plan.params.scales.size());
  }
  return object.take();
}

}  // namespace

void add_static_members(JsonObject& object, const StaticReport& report) {
  const ModelConfig& model = report.config.model;
  object
      .add("input",
           model_json(model.input, report.input_sha256, report.input_bytes, report.opset_before))
      .add("output",
           model_json(model.output, report.output_sha256, report.output_bytes, report.opset_after))
      .add("calibration", calibration_json(report))
      .add("config", write_value(report.config))
      .add("preset_reason",
           report.preset_reason.empty() ? JsonValue() : JsonValue(report.preset_reason))
      .add("nodes", node_counts_json(report.outcome))
      .add("tensors", tensor_counts_json(report.plan))
      .add("left_in_float", to_json(group_left(report.outcome.left)))
      .add("equalized", json_list(report.equalized, equalized_json))
      .add("predicted", prediction_json(report.predicted))
      .add("kernels", to_json(report.kernels))
      .add("load_check", report.load_check)
      .add("verification", report.verification ? to_json(*report.verification) : JsonValue())
      .add("regions", to_json(report.regions))
      .add("gates", to_json(report.gates))
      .add("warnings", report.warnings);
}

JsonValue to_json(const StaticReport& report) {
  JsonObject object;
  object.add("command", "static");
  add_static_members(object, report);
  return object.add("quantized_tensors", json_list(all_tensors(report.plan), tensor_json))
      .add("kernel_nodes", kernel_nodes_json(report.kernels))
      .add("passes", passes_json(report.preprocess))
      .add("notes", report.preprocess.notes)
      .add("seconds", times_json(report.seconds))
      .take();
}

}  // namespace qtool
