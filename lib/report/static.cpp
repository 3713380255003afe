#include "report/static.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/some_of.h"
#include "base/text.h"
#include "config/enum_names.h"
#include "report/comparison.h"
#include "report/figures.h"
#include "report/kernels.h"
#include "report/left_in_float.h"
#include "report/regions.h"
#include "report/run_facts.h"

namespace qtool {
namespace {

constexpr std::size_t kShownReasons = 8;
constexpr std::size_t kShownRegions = 10;

std::string calibration_text(const StaticReport& report) {
  const CalibrationConfig& calibration = report.config.calibration;
  if (report.calibration_source == CalibrationSource::Cache)
    return fmt::format("ranges of {}", path_text(calibration.cache));
  const bool is_table = report.calibration_source == CalibrationSource::Table;
  return fmt::format("{} of {}", count_text(report.sample_count, "sample"),
                     path_text(is_table ? calibration.table : calibration.data));
}

std::string tensor_text(const QuantPlan& plan) {
  const auto tensors = all_tensors(plan);
  const auto count = [&](TensorPlan::Role role) {
    return static_cast<std::size_t>(std::ranges::count(tensors, role, &TensorPlan::role));
  };
  return fmt::format("{}, {}, {} quantized",
                     count_text(count(TensorPlan::Role::Activation), "activation"),
                     count_text(count(TensorPlan::Role::Constant), "weight"),
                     fmt::format("{} bias{}", count(TensorPlan::Role::Bias),
                                 count(TensorPlan::Role::Bias) == 1 ? "" : "es"));
}

std::string preset_text(const StaticReport& report) {
  const std::string name(enum_name(report.config.preset));
  return report.preset_reason.empty() ? name : fmt::format("{}: {}", name, report.preset_reason);
}

std::string equalized_text(const std::vector<EqualizedWeight>& weights) {
  std::vector<std::string> words;
  for (const EqualizedWeight& weight : weights)
    words.push_back(fmt::format("'{}' ({:.1f} to {:.1f} dB)", printable(weight.name, 100),
                                weight.sqnr_before_db, weight.sqnr_after_db));
  return some_of(words);
}

/// Bits that some of several scales lose by being wider.
struct LostBits {
  std::size_t all = 0, wider = 0;
  double sum = 0, most = 0;

  void add(double factor) {
    ++all;
    wider += factor > 1 ? 1 : 0;
    sum += std::log2(factor);
    most = std::max(most, std::log2(factor));
  }
  std::string text(std::string_view things) const {
    std::string out = fmt::format("{} of {} {} lose ", wider, all, things);
    if (wider == 0) return out + "precision";
    return out + fmt::format("{:.2f} bits on average, {:.2f} at most",
                             sum / static_cast<double>(wider), most);
  }
};

/// What weights and activations lose so that sums of two products stay in 16 bits.
std::string widening_text(const QuantPlan& plan) {
  LostBits channels, activations;
  for (const TensorPlan* tensor : all_tensors(plan)) {
    for (const double factor : tensor->widening) channels.add(factor);
    if (tensor->role == TensorPlan::Role::Activation) activations.add(tensor->headroom);
  }
  if (channels.all == 0) return "";
  std::string out = channels.text("channels of weights");
  if (activations.wider > 0) out += "; " + activations.text("activations");
  return out;
}

std::string prediction_text(const Prediction& predicted) {
  return fmt::format(
      "{:.2f} of the float model's time, {}", predicted.ratio(),
      predicted.trial ? "tried on this machine with made-up ranges" : "on a CPU with VNNI");
}

Facts facts_of(const StaticReport& report) {
  Facts facts;
  add_model_facts(
      facts, report.config,
      {report.input_bytes, report.output_bytes, report.opset_before, report.opset_after});
  if (!report.config.dry_run) facts.emplace_back("calibration", calibration_text(report));
  const PlanOutcome& outcome = report.outcome;
  facts.emplace_back(
      "nodes", fmt::format("{} quantized, {} folded away, {} left in float",
                           outcome.quantized_nodes, outcome.folded_nodes, outcome.float_nodes));
  facts.emplace_back("tensors", tensor_text(report.plan));
  facts.emplace_back("preset", preset_text(report));
  if (!report.equalized.empty()) facts.emplace_back("equalized", equalized_text(report.equalized));
  if (const std::string widening = widening_text(report.plan); !widening.empty())
    facts.emplace_back("16-bit sums", widening);
  if (report.predicted.is_known())
    facts.emplace_back("predicted", prediction_text(report.predicted));
  if (report.config.dry_run) return facts;
  if (!report.kernels.nodes.empty()) facts.emplace_back("kernels", kernels_text(report.kernels));
  facts.emplace_back("load check", report.load_check);
  if (report.verification) {
    std::ranges::move(top1_facts(report.verification->top1), std::back_inserter(facts));
  }
  if (report.config.report.manifest) {
    facts.emplace_back("manifest", path_text(report.config.model.output) + ".manifest.json");
  }
  return facts;
}

Section tensor_details(const QuantPlan& plan) {
  Table table{{{"tensor"}, {"type"}, {"scale", true}, {"zero point", true}, {"from"}}, {}};
  for (const TensorPlan* each : all_tensors(plan)) {
    const TensorPlan& tensor = *each;
    const QuantParams& params = tensor.params;
    const bool is_single = params.scales.size() == 1 && params.zero_points.size() == 1;
    table.rows.push_back({tensor.name, element_type_name(params.type),
                          is_single ? fmt::format("{:.6g}", params.scales[0])
                                    : count_text(params.scales.size(), "channel"),
                          is_single ? std::to_string(params.zero_points[0]) : std::string(),
                          tensor.derivation});
  }
  return {"every quantized tensor", std::move(table), true};
}

}  // namespace

Document to_document(const StaticReport& report) {
  Document out;
  out.title = fmt::format("{} quantized", report.config.model.input
                                              ? report.config.model.input->filename().native()
                                              : std::string("model"));
  out.sections.push_back({"", facts_of(report)});
  const LeftInFloat left = group_left(report.outcome.left);
  append(out.sections, left_sections(left, kShownReasons));
  append(out.sections, kernel_sections(report.kernels, kShownReasons));
  if (report.verification) append(out.sections, comparison_sections(*report.verification));
  append(out.sections, region_sections(report.regions, kShownRegions));
  append(out.sections, gate_sections(report.gates));
  append(out.sections, left_details(left));
  out.sections.push_back(tensor_details(report.plan));
  out.sections.push_back(time_section(report.seconds));
  return out;
}

}  // namespace qtool
