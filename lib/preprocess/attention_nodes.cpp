#include "preprocess/attention_nodes.h"

#include <span>

#include "model/float_values.h"

namespace qtool {

std::string AttentionNodes::add_once(int before, const std::string& op_type,
                                     const std::vector<std::string>& inputs,
                                     const std::string& wanted) {
  std::string key = op_type;
  for (const auto& input : inputs) key += '\n' + input;
  auto& name = made_[key];
  if (name.empty()) name = add(before, op_type, inputs, wanted);
  return name;
}

std::string AttentionNodes::integers(const Integers& values) {
  auto& name = integers_[values];
  if (name.empty()) name = graph_.add_integers("attention_sizes", values);
  return name;
}

std::string AttentionNodes::number(double value, ElementType type) {
  auto& name = made_[std::to_string(value)];
  if (!name.empty()) return name;
  const auto bytes = encode_floats(type, std::span(&value, 1));
  name = graph_.add_constant("attention_mask_value", make_tensor({}, type, {}, bytes));
  return name;
}

}  // namespace qtool
