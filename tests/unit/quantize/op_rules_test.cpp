#include "quantize/op_rules.h"

#include <algorithm>
#include <string>

#include "base/file.h"
#include "catch.h"
#include "quantize/integer_forms.h"

using namespace qtool;

namespace {

std::string role_text(const InputRule& rule, std::string_view op_type) {
  switch (rule.role) {
    case InputRole::Float:
      return "float";
    case InputRole::Activation:
      return "activation";
    case InputRole::Weight:
      // Gemm's axis depends on transB.
      return op_type == "Gemm" ? "weight (N)"
                               : "weight (" + std::to_string(rule.channel_axis) + ")";
    case InputRole::Bias:
      return "bias";
  }
  return "";
}

std::string output_text(const OpRule& rule) {
  if (rule.op_type == "Pad") return "shared or own";
  switch (rule.outputs) {
    case OutputParams::Own:
      return "own";
    case OutputParams::SharedWithInput:
      return "shared";
    case OutputParams::FoldedIntoProducer:
      return "own, folded where proven";
    case OutputParams::UnitInterval:
      return "[0, 1]";
    case OutputParams::Rescaled:
      return "rescaled";
  }
  return "";
}

std::string entry_text(Entry entry) {
  switch (entry) {
    case Entry::Always:
      return "always";
    case Entry::OutputRead:
      return "output read";
    case Entry::QuantizedInput:
      return "input quantized";
    case Entry::ConstantOrQuantizedInput:
      return "input constant or quantized";
    case Entry::QuantizedInputs:
      return "both inputs quantized";
  }
  return "";
}

std::string form_text(const OpRule& rule) {
  if (rule.outputs == OutputParams::FoldedIntoProducer) return "gone where proven";
  const IntegerForm* form = find_integer_form(rule.op_type, rule.domain);
  if (form == nullptr) return "";
  const bool is_itself = form->integer_op.empty() || form->integer_op == form->op_type;
  return is_itself ? "itself" : std::string(form->integer_op);
}

/// The row of docs/operators.md that states a rule.
std::string table_row(const OpRule& rule) {
  std::string inputs;
  for (const InputRule& input : rule.inputs) inputs += role_text(input, rule.op_type) + ", ";
  return "| " + std::string(rule.op_type) + " | " + inputs +
         role_text(rule.other_inputs, rule.op_type) + " | " + output_text(rule) + " | " +
         entry_text(rule.entry) + " | " +
         (rule.since_opset > 1 ? std::to_string(rule.since_opset) : "") + " | " + form_text(rule) +
         " | " + ((rule.integer_on & kCpuProvider) != 0 ? "integers" : "floats") + " |";
}

}  // namespace

TEST_CASE("docs/operators.md states every rule of the table", "[quantize]") {
  const std::string docs = read_file(QTOOL_SOURCE_DIR "/docs/operators.md");
  for (const OpRule& rule : placement_for(Preset::Cpu).rules) {
    CAPTURE(table_row(rule));
    CHECK(docs.find(table_row(rule) + "\n") != std::string::npos);
  }
}

TEST_CASE("the table holds the 34 operators that ONNX Runtime quantizes by default", "[quantize]") {
  CHECK(std::ranges::count(placement_for(Preset::OnnxRuntime).rules, false, &OpRule::is_own) == 34);
}

TEST_CASE("a rule is found by operator and domain", "[quantize]") {
  const Placement& placement = placement_for(Preset::Cpu);
  REQUIRE(find_rule(placement, "Conv", "") != nullptr);
  CHECK(find_rule(placement, "Conv", "ai.onnx") == find_rule(placement, "Conv", ""));
  CHECK(find_rule(placement, "Conv", "com.example") == nullptr);
  CHECK(find_rule(placement, "Tanh", "") == nullptr);
  CHECK(find_rule(placement, "EmbedLayerNormalization", "com.microsoft") != nullptr);
  CHECK(find_rule(placement, "DepthToSpace", "") != nullptr);
  CHECK(find_rule(placement_for(Preset::OnnxRuntime), "DepthToSpace", "") == nullptr);
}
