#include "float16/plan.h"

namespace qtool {
namespace {

std::string forms_text(const PlannedValue& value, const std::string& type) {
  if (value.is_constant && value.wants_float && value.wants_short) return "float32 and " + type;
  const bool is_short = value.home == Form::Short;
  const bool is_cast = is_short ? value.wants_float : value.wants_short;
  std::string out = is_short ? type : "float32";
  if (!is_cast || value.is_constant) return out;
  if (value.is_widened_short) return value.wants_float ? out + ", " + type + " before" : type;
  return out + ", cast to " + (is_short ? "float32" : type);
}

}  // namespace

std::string to_text(const Float16Plan& plan) {
  const std::string type = element_type_name(plan.narrowing.type);
  std::string out;
  for (const PlannedValue& value : plan.values) {
    if (value.home != Form::Untouched) out += value.name + " " + forms_text(value, type) + "\n";
  }
  for (const FloatNode& node : plan.left)
    out += node.node + " (" + node.op_type + ") float32: " + node.reason + "\n";
  for (const ClampedWeight& weight : plan.clamped) {
    out += weight.name + " clamped: " + std::to_string(weight.values.above) + " above, " +
           std::to_string(weight.values.below) + " below\n";
  }
  return out;
}

}  // namespace qtool
