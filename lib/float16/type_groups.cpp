#include "float16/type_groups.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include <onnx/defs/schema.h>

#include "float16/contrib_rows.h"

namespace qtool {
namespace {

/// An input that stays float32 although the schema would take a shorter type: numbers that say
/// where something is.
struct FloatInput {
  std::string_view op_type;
  int slot;
};
constexpr auto kFloatInputs = std::to_array<FloatInput>({{"Resize", 1}, {"Resize", 2}});

std::string type_text(ElementType type) {
  return type == ElementType::BFloat16 ? "tensor(bfloat16)" : "tensor(float16)";
}

/// Collects slots in groups by the name of their type.
class Grouping {
 public:
  TypeGroup& group(const std::string& key, const std::string& name, bool takes_target) {
    const auto [entry, is_new] = known_.try_emplace(key, groups_.size());
    if (is_new) groups_.push_back({{}, {}, takes_target, name});
    return groups_[entry->second];
  }
  std::vector<TypeGroup> take() { return std::move(groups_); }

 private:
  std::map<std::string, std::size_t> known_;
  std::vector<TypeGroup> groups_;
};

/// The formal parameter of a slot; null beyond the last.
const onnx::OpSchema::FormalParameter* formal(
    const std::vector<onnx::OpSchema::FormalParameter>& parameters, int slot) {
  if (parameters.empty()) return nullptr;
  const auto index = static_cast<std::size_t>(slot);
  if (index < parameters.size()) return &parameters[index];
  const auto& last = parameters.back();
  return last.GetOption() == onnx::OpSchema::Variadic ? &last : nullptr;
}

bool allows(const onnx::OpSchema::FormalParameter& parameter, const std::string& type) {
  return std::ranges::any_of(parameter.GetTypes(), [&](const auto* each) { return *each == type; });
}

bool stays_float(const onnx::NodeProto& node, int slot) {
  return std::ranges::any_of(kFloatInputs, [&](const FloatInput& row) {
    return row.op_type == node.op_type() && row.slot == slot;
  });
}

NodeTypes by_schema(const onnx::NodeProto& node, const onnx::OpSchema& schema, ElementType target) {
  Grouping grouping;
  const auto add = [&](const auto& parameters, int slot, bool is_input) {
    const auto* parameter = formal(parameters, slot);
    if (parameter == nullptr || !allows(*parameter, "tensor(float)")) return;
    const bool is_own = !parameter->GetIsHomogeneous() || (is_input && stays_float(node, slot));
    const std::string number = (is_input ? "i" : "o") + std::to_string(slot);
    TypeGroup& group = grouping.group(
        is_own ? number
               : parameter->GetTypeStr() +
                     (parameter->GetTypeStr().find('(') != std::string::npos ? number : ""),
        parameter->GetName(),
        allows(*parameter, type_text(target)) && !(is_input && stays_float(node, slot)));
    (is_input ? group.inputs : group.outputs).push_back(slot);
  };
  for (int i = 0; i < node.input_size(); ++i) add(schema.inputs(), i, true);
  for (int i = 0; i < node.output_size(); ++i) add(schema.outputs(), i, false);
  return {true, grouping.take()};
}

NodeTypes by_table(const onnx::NodeProto& node, const ContribTypes& row, ElementType target) {
  Grouping grouping;
  const bool takes = target == ElementType::Float16 || row.takes_bfloat16;
  const auto add = [&](std::string_view letters, int slot, bool is_input) {
    const char letter = letters[std::min(static_cast<std::size_t>(slot), letters.size() - 1)];
    if (letter == '-') return;
    const std::string number = (is_input ? "i" : "o") + std::to_string(slot);
    TypeGroup& group = grouping.group(letter == 'f' ? number : std::string(1, letter),
                                      (is_input ? "input " : "output ") + std::to_string(slot),
                                      takes && letter != 'f');
    (is_input ? group.inputs : group.outputs).push_back(slot);
  };
  for (int i = 0; i < node.input_size(); ++i) add(row.inputs, i, true);
  for (int i = 0; i < node.output_size(); ++i) add(row.outputs, i, false);
  return {true, grouping.take()};
}

}  // namespace

NodeTypes types_of_node(const onnx::NodeProto& node, const Model& model, ElementType target) {
  const std::string domain = is_default_domain(node.domain()) ? "" : node.domain();
  const auto* schema =
      onnx::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(model.opset(domain)), domain);
  if (schema != nullptr) return by_schema(node, *schema, target);
  const ContribTypes* row = find_contrib_types(domain, node.op_type());
  return row != nullptr ? by_table(node, *row, target) : NodeTypes{};
}

}  // namespace qtool
