#include "report/compare.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "base/text.h"
#include "report/comparison.h"
#include "report/figures.h"
#include "report/json_object.h"

namespace qtool {
namespace {

Facts facts_of(const CompareReport& report) {
  Cell reference(
      fmt::format("{}, {}", report.reference.path.native(), format_bytes(report.reference.bytes)));
  Cell other(fmt::format("{}, {} ({})", report.other.path.native(),
                         format_bytes(report.other.bytes), share_text(report.size_ratio)));
  const double largest = std::max(1.0, report.size_ratio);
  reference.bar = 1 / largest;
  other.bar = report.size_ratio / largest;
  Facts facts = {{"reference", std::move(reference)}, {"compared", std::move(other)}};
  facts.emplace_back("data", fmt::format("{}, {}", report.data.native(),
                                         count_text(report.comparison.sample_count, "sample")));
  if (report.labels) facts.emplace_back("labels", report.labels->native());
  std::ranges::move(top1_facts(report.comparison.top1), std::back_inserter(facts));
  return facts;
}

JsonValue model_json(const ModelFile& model) {
  return JsonObject().add("path", model.path).add("bytes", model.bytes).take();
}

}  // namespace

Document to_document(const CompareReport& report) {
  Document out;
  out.title = fmt::format("{} compared with {}", report.other.path.filename().native(),
                          report.reference.path.filename().native());
  out.sections.push_back({"", facts_of(report)});
  std::ranges::move(comparison_sections(report.comparison), std::back_inserter(out.sections));
  std::ranges::move(gate_sections(report.gates), std::back_inserter(out.sections));
  return out;
}

JsonValue to_json(const CompareReport& report) {
  return JsonObject()
      .add("command", "compare")
      .add("reference", model_json(report.reference))
      .add("compared", model_json(report.other))
      .add("size_ratio", report.size_ratio)
      .add("data", report.data)
      .add("labels", report.labels)
      .add("comparison", to_json(report.comparison))
      .add("gates", to_json(report.gates))
      .add("warnings", report.warnings)
      .take();
}

}  // namespace qtool
