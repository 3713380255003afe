#include "quantize/onnxruntime/qoperator_bias.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "quantize/bias.h"
#include "quantize/params.h"

namespace qtool {
namespace {

using Role = TensorPlan::Role;

constexpr double kInt32Max = std::numeric_limits<std::int32_t>::max();

bool are_zero(const std::vector<std::int32_t>& zero_points) {
  return std::ranges::all_of(zero_points, [](std::int32_t each) { return each == 0; });
}

/// The scales that the integer operator adds the bias with.
std::vector<float> bias_scales(const QuantParams& input, const QuantParams& weight, float alpha) {
  std::vector<float> out;
  for (const float scale : weight.scales) out.push_back(input.scales.front() * scale * alpha);
  return out;
}

}  // namespace

/// Only int8 weights around zero keep their values when the scale grows.
bool QOperatorBiases::can_adjust(const TensorPlan& weight) const {
  return config_.weight_type == QuantType::Int8 && weight.role == Role::Constant &&
         are_zero(weight.params.zero_points);
}

Tensor QOperatorBiases::stored(const TensorPlan& bias, std::size_t scales) const {
  return *stored_bias(model_.tensor(*graph_.initializer(bias.initializer)), scales, bias.factor);
}

int QOperatorBiases::plan(const onnx::NodeProto& node, int slot, int input, int weight,
                          QOperatorTensors& tensors, std::string& obstacle) {
  const std::string& name = node.input(slot);
  if (!tensors.is_constant(name) || !tensors.is_float(name)) {
    obstacle = "its bias '" + name + "' is not constant";
    return -1;
  }
  const bool is_gemm = node.op_type() == "Gemm";
  const float alpha = is_gemm ? float_attribute(node, "alpha", 1.0F) : 1.0F;
  const float beta = is_gemm ? float_attribute(node, "beta", 1.0F) : 1.0F;
  const auto key = std::tuple(name, tensors.root(input), weight, alpha, beta);
  if (const auto found = known_.find(key); found != known_.end()) return found->second;

  TensorPlan bias;
  bias.name = bias.initializer = name;
  bias.role = Role::Bias;
  bias.params.type = ElementType::Int32;
  bias.factor = beta;
  bias.derivation = "scale=" + tensors.at(input).name + "*" + tensors.at(weight).name;
  if (!is_draft_) {
    const QuantParams& weights = tensors.at(weight).params;
    const auto values =
        stored_bias(model_.tensor(*graph_.initializer(name)), weights.scales.size(), beta);
    if (!values) {
      obstacle = "its bias '" + name + "' does not fit the weight's channels";
      return -1;
    }
    const auto scales = bias_scales(tensors.at(input).params, weights, alpha);
    const auto largest = largest_per_scale(*values, scales.size());
    for (std::size_t i = 0; i < scales.size(); ++i) {
      const bool fits = largest[i] <= std::abs(static_cast<double>(scales[i])) * kInt32Max;
      if (fits || (std::isfinite(largest[i]) && can_adjust(tensors.at(weight)))) continue;
      obstacle = "its bias '" + name + "' is too large for int32 at the scale of the products";
      return -1;
    }
    const auto& dims = graph_.initializer(name)->dims();
    bias.shape.assign(dims.begin(), dims.end());
    if (element_count(*graph_.initializer(name)) != values->element_count())
      bias.shape = values->shape;
    bias.params.zero_points.assign(scales.size(), 0);
    bias.params.scales = scales;
    if (scales.size() > 1) bias.params.axis = static_cast<std::int64_t>(bias.shape.size()) - 1;
  }
  const int index = tensors.add(std::move(bias));
  if (tensors.integers_of(name) < 0) tensors.note(name, index);
  requests_.push_back({index, input, weight, alpha});
  known_[key] = index;
  return index;
}

void QOperatorBiases::take_back(const QOperatorTensors::Mark& mark) {
  const auto is_gone = [&](int plan) { return static_cast<std::size_t>(plan) >= mark.tensors; };
  std::erase_if(requests_, [&](const Request& each) { return is_gone(each.plan); });
  std::erase_if(known_, [&](const auto& each) { return is_gone(each.second); });
}

/// Raises scales of the weight at which the bias would overflow.
void QOperatorBiases::adjust_weight(const Request& request, QOperatorTensors& tensors) const {
  TensorPlan& weight = tensors.at(request.weight);
  if (!can_adjust(weight)) return;
  const Tensor values = stored(tensors.at(request.plan), weight.params.scales.size());
  const auto largest = largest_per_scale(values, weight.params.scales.size());
  const double input_scale = tensors.at(request.input).params.scales.front() *
                             std::abs(static_cast<double>(request.alpha));
  for (std::size_t i = 0; i < largest.size(); ++i) {
    float& scale = weight.params.scales[i];
    scale = static_cast<float>(adjusted_weight_scale(
        input_scale, scale, largest[i], weight.value_type, weight.params.axis.has_value()));
  }
}

void QOperatorBiases::settle(QOperatorTensors& tensors) {
  if (is_draft_) return;
  for (const Request& request : requests_) adjust_weight(request, tensors);
  for (const Request& request : requests_) {
    tensors.at(request.plan).params.scales = bias_scales(
        tensors.at(request.input).params, tensors.at(request.weight).params, request.alpha);
  }
}

}  // namespace qtool
