#include "quantize/onnxruntime/qoperator_tensors.h"

#include <cmath>
#include <utility>

#include "quantize/activation_params.h"
#include "quantize/constants.h"
#include "quantize/op_rules.h"

namespace qtool {
namespace {

using Role = TensorPlan::Role;

bool is_signed(ElementType type) {
  return type == ElementType::Int4 || type == ElementType::Int8 || type == ElementType::Int16 ||
         type == ElementType::Float8E4M3FN;
}

}  // namespace

int QOperatorTensors::integers_of(const std::string& name) const {
  const auto found = integers_.find(name);
  return found == integers_.end() ? -1 : found->second;
}

bool QOperatorTensors::is_float(const std::string& name) const {
  const ElementType type = name.empty() ? ElementType::Undefined : graph_.type_of(name);
  return type == ElementType::Float || type == ElementType::Float16;
}

bool QOperatorTensors::is_constant(const std::string& name) const {
  return graph_.initializer(name) != nullptr;
}

void QOperatorTensors::measure(const std::string& name) {
  if (!is_float(name) || graph_.initializer(name)) return;
  if (const auto source = ranges_.measured(name)) measured_.push_back(*source);
}

TensorPlan QOperatorTensors::plan_of(const std::string& name, QuantParams params,
                                     std::string derivation) const {
  TensorPlan plan;
  plan.name = name;
  plan.params = std::move(params);
  plan.derivation = std::move(derivation);
  plan.value_type = plan.params.scale_type;
  return plan;
}

std::optional<QuantParams> QOperatorTensors::measured_params(const std::string& name) const {
  if (!is_float(name)) return std::nullopt;
  const auto range = ranges_.range(name);
  if (!range || !std::isfinite(range->min) || !std::isfinite(range->max)) return std::nullopt;
  return activation_params(*range, config_, overrides_.find(name), graph_.type_of(name));
}

int QOperatorTensors::activation(const std::string& name) {
  measure(name);
  if (graph_.initializer(name)) return constant(name, {});
  if (const int known = integers_of(name); known >= 0) return known;
  const int index = output(name);
  if (index >= 0) note(name, index);
  return index;
}

int QOperatorTensors::output(const std::string& name) {
  measure(name);
  auto params = measured_params(name);
  return params ? add(plan_of(name, std::move(*params), "measured")) : -1;
}

int QOperatorTensors::output_like(const std::string& name, int provider) {
  const int owner = root(provider);
  TensorPlan plan = plan_of(name, at(owner).params, "as " + at(owner).name);
  plan.provider = owner;
  return add(std::move(plan));
}

int QOperatorTensors::output_with(const std::string& name, float scale, std::int32_t zero_point) {
  QuantParams params;
  params.type = element_type(config_.activation_type);
  params.scales = {scale};
  params.zero_points = {zero_point};
  if (graph_.type_of(name) == ElementType::Float16) params.scale_type = ElementType::Float16;
  return add(plan_of(name, std::move(params), "steps of 1/256"));
}

int QOperatorTensors::in_terms_of(const std::string& name, int provider) {
  const int index = output_like(name, provider);
  if (graph_.initializer(name)) at(index).role = Role::Constant;
  return index;
}

/// Whether a reader can do with a plan that was made for another; it may have been taken back.
bool QOperatorTensors::serves(int index, const std::string& name, const ConstantWish& wish) const {
  if (index >= static_cast<int>(tensors_.size())) return false;
  const TensorPlan& plan = tensors_[static_cast<std::size_t>(index)];
  if (plan.name != name || plan.role != Role::Constant || plan.provider >= 0) return false;
  const ElementType activations = element_type(config_.activation_type);
  if (!wish.is_weight) return !plan.params.axis && plan.params.type == activations;
  if (plan.params.axis && plan.params.axis != wish.axis) return false;
  return is_signed(plan.params.type) || !is_signed(activations);
}

QuantScheme QOperatorTensors::scheme_of(const std::string& name, const ConstantWish& wish) const {
  const TensorOverride* override = overrides_.find(name);
  const ElementType weights = element_type(config_.weight_type);
  QuantScheme scheme{.type = wish.is_weight ? weights : element_type(config_.activation_type),
                     .is_reduced = wish.is_weight && config_.reduce_range,
                     .minimum_real_range = config_.extra_options.minimum_real_range,
                     .value_type = graph_.type_of(name)};
  if (wish.is_int8) scheme.type = ElementType::Int8;
  if (override && override->quant_type) scheme.type = element_type(*override->quant_type);
  // As the peer has it, operands of the weight type are symmetric where weights are.
  const bool counts_as_weight = wish.axis || scheme.type == weights;
  scheme.is_symmetric =
      counts_as_weight ? config_.extra_options.weight_symmetric.value_or(is_signed(scheme.type))
                       : config_.extra_options.activation_symmetric.value_or(false);
  if (override == nullptr) return scheme;
  scheme.is_symmetric = override->symmetric.value_or(scheme.is_symmetric);
  scheme.is_reduced = override->reduce_range.value_or(scheme.is_reduced);
  return scheme;
}

std::optional<QuantParams> QOperatorTensors::constant_params(const std::string& name,
                                                             const ConstantWish& wish) const {
  const onnx::TensorProto& tensor = *graph_.initializer(name);
  const QuantScheme scheme = scheme_of(name, wish);
  if (ranges_.is_draft()) {
    QuantParams params;
    params.type = scheme.type;
    params.axis = wish.axis;
    params.scale_type = scheme.value_type;
    return params;
  }
  auto found = qtool::constant_params(model_.tensor(tensor), {.axis = wish.axis}, scheme,
                                      given_params(overrides_.channels(name)));
  if (!found) return std::nullopt;
  return std::move(found->params);
}

int QOperatorTensors::constant(const std::string& name, ConstantWish wish) {
  if (!is_constant(name) || !is_float(name)) return -1;
  if (overrides_.is_per_tensor(name)) wish.axis.reset();
  if (overrides_.is_per_channel(name)) {
    const auto rank = static_cast<std::size_t>(graph_.initializer(name)->dims_size());
    const std::int64_t axis = normalized_axis(*overrides_.find(name)->axis, rank);
    if (axis != wish.channel_axis) return -1;
    wish.axis = axis;
  }
  for (const int known : constants_[name]) {
    if (serves(known, name, wish)) return known;
  }
  auto params = constant_params(name, wish);
  if (!params) return -1;
  TensorPlan plan = plan_of(name, std::move(*params), "constant");
  plan.role = Role::Constant;
  const int index = add(std::move(plan));
  constants_[name].push_back(index);
  if (integers_of(name) < 0) note(name, index);
  return index;
}

void QOperatorTensors::note(const std::string& name, int plan) {
  noted_.push_back({name, integers_of(name)});
  integers_[name] = plan;
}

int QOperatorTensors::add(TensorPlan plan) {
  tensors_.push_back(std::move(plan));
  return static_cast<int>(tensors_.size()) - 1;
}

void QOperatorTensors::take_back(const Mark& mark) {
  tensors_.resize(mark.tensors);
  for (; noted_.size() > mark.noted; noted_.pop_back()) {
    const Noted& last = noted_.back();
    if (last.before < 0) {
      integers_.erase(last.name);
    } else {
      integers_[last.name] = last.before;
    }
  }
}

}  // namespace qtool
