#include "model/body_runs.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "model/model.h"

namespace qtool {
namespace {

/// A count beyond this is there for loops that end by their condition.
constexpr std::int64_t kMostRounds = std::numeric_limits<std::int32_t>::max() - 1;

bool is_op(const onnx::NodeProto& node, const char* op_type) {
  return node.op_type() == op_type && is_default_domain(node.domain());
}

std::optional<bool> flag(const onnx::TensorProto* tensor) {
  if (!tensor || element_type(*tensor) != ElementType::Bool || tensor->raw_data().size() != 1)
    return std::nullopt;
  return tensor->raw_data()[0] != 0;
}

std::optional<std::int64_t> count(const onnx::TensorProto* tensor) {
  std::int64_t value = 0;
  if (!tensor || element_type(*tensor) != ElementType::Int64 ||
      tensor->raw_data().size() != sizeof value)
    return std::nullopt;
  std::memcpy(&value, tensor->raw_data().data(), sizeof value);
  return value;
}

/// Whether a loop that `goes_on` before its first round does so after each, as the body hands on
/// the condition that it gets, or another that is always true.
bool always_goes_on(const onnx::GraphProto& body, const ConstantOf& outer) {
  if (body.input_size() < 2 || body.output_size() == 0) return false;
  std::string value = body.output(0).name();
  for (int index = body.node_size() - 1; index >= 0; --index) {
    const auto& node = body.node(index);
    if (std::ranges::find(node.output(), value) == node.output().end()) continue;
    if (is_op(node, "Constant")) {
      const auto* attribute = find_attribute(node, "value");
      return attribute && flag(&attribute->t()) == true;
    }
    if (!is_op(node, "Identity")) return false;
    value = node.input(0);
  }
  if (value == body.input(1).name()) return true;
  for (const auto& tensor : body.initializer()) {
    if (tensor.name() == value) return flag(&tensor) == true;
  }
  return flag(outer(value)) == true;
}

}  // namespace

std::optional<bool> constant_condition(const onnx::NodeProto& node, const ConstantOf& constant) {
  if (!is_op(node, "If") || node.input_size() != 1) return std::nullopt;
  return flag(constant(node.input(0)));
}

std::optional<std::int64_t> constant_round_count(const onnx::NodeProto& node,
                                                 const ConstantOf& constant) {
  const auto* body = is_op(node, "Loop") ? find_attribute(node, "body") : nullptr;
  if (!body || !body->has_g() || node.input_size() < 2) return std::nullopt;
  const bool starts = node.input(1).empty() || flag(constant(node.input(1))) == true;
  const auto rounds = node.input(0).empty() ? std::nullopt : count(constant(node.input(0)));
  if (!starts || !rounds || *rounds > kMostRounds || !always_goes_on(body->g(), constant))
    return std::nullopt;
  return std::max<std::int64_t>(0, *rounds);
}

}  // namespace qtool
