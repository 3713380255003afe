#include "quantize/tensor_overrides.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "model/messages.h"
#include "quantize/op_rules.h"

namespace qtool {
namespace {

const std::vector<TensorOverride> kNone;

[[noreturn]] void refuse(const std::string& tensor, const std::string& what,
                         std::string hint = {}) {
  throw Error(ErrorKind::Usage,
              fmt::format("quantization.extra_options.TensorQuantOverrides: {} {}",
                          in_quotes(tensor), what),
              std::move(hint));
}

std::size_t value_count(const TensorOverride& override) {
  return std::max({override.scale.values.size(), override.zero_point.values.size(),
                   override.rmin.values.size(), override.rmax.values.size()});
}

/// How many of its own values an override has channels for.
std::size_t channel_count(const std::vector<TensorOverride>& channels) {
  return channels.size() > 1 ? channels.size() : value_count(channels.front());
}

bool agree(const TensorOverride& first, const TensorOverride& other) {
  const auto same = [](const auto& a, const auto& b) { return !b || a == b; };
  return same(first.quant_type, other.quant_type) && same(first.axis, other.axis) &&
         same(first.symmetric, other.symmetric) && same(first.reduce_range, other.reduce_range);
}

void check_channels(const std::string& tensor, const onnx::TensorProto& values,
                    const std::vector<TensorOverride>& channels) {
  const TensorOverride& first = channels.front();
  if (!first.axis) refuse(tensor, "has overrides of channels without an 'axis' in the first");
  const auto rank = static_cast<std::size_t>(values.dims_size());
  const std::int64_t axis = normalized_axis(*first.axis, rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) {
    refuse(tensor, fmt::format("has no axis {}, its rank is {}", *first.axis, rank));
  }
  const auto expected = static_cast<std::size_t>(values.dims(static_cast<int>(axis)));
  const std::size_t found = channel_count(channels);
  if (found > 1 && found != expected) {
    refuse(tensor, fmt::format("has {} overrides of channels, expected 1 or {}", found, expected));
  }
  for (std::size_t i = 1; i < channels.size(); ++i) {
    const TensorOverride& each = channels[i];
    if (!agree(first, each) || each.convert)
      refuse(tensor, fmt::format("differs in channel {} from channel 0 in more than values", i));
    if (first.scale.values.empty() != each.scale.values.empty() ||
        first.rmin.values.empty() != each.rmin.values.empty() ||
        first.rmax.values.empty() != each.rmax.values.empty()) {
      refuse(tensor, fmt::format("lacks in channel {} what channel 0 has, or the reverse", i));
    }
  }
}

void check_constant(const std::string& tensor, const onnx::TensorProto& values,
                    const std::vector<TensorOverride>& channels) {
  const TensorOverride& first = channels.front();
  if (first.convert) refuse(tensor, "is a constant, expected no 'convert'");
  if (first.axis || channels.size() > 1) return check_channels(tensor, values, channels);
  if (value_count(first) > 1) refuse(tensor, "has values of channels without an 'axis'");
}

void check_activation(const std::string& tensor, const std::vector<TensorOverride>& channels,
                      QuantType default_type) {
  const TensorOverride& first = channels.front();
  if (channels.size() > 1 || first.axis || value_count(first) > 1)
    refuse(tensor, "has overrides of channels, but is no constant");
  if (first.reduce_range) refuse(tensor, "has 'reduce_range', which is for constants alone");
  if (first.convert && first.convert->quant_type == first.quant_type.value_or(default_type))
    refuse(tensor, "is to be converted to the type that it has");
}

}  // namespace

const TensorOverride* TensorOverrides::find(const std::string& tensor) const {
  const auto& channels = this->channels(tensor);
  return channels.empty() ? nullptr : &channels.front();
}

const std::vector<TensorOverride>& TensorOverrides::channels(const std::string& tensor) const {
  const auto found = overrides_.find(tensor);
  return found == overrides_.end() ? kNone : found->second;
}

bool TensorOverrides::is_per_tensor(const std::string& tensor) const {
  const TensorOverride* found = find(tensor);
  return found != nullptr && !found->axis;
}

bool TensorOverrides::is_per_channel(const std::string& tensor) const {
  const TensorOverride* found = find(tensor);
  return found != nullptr && found->axis;
}

void check_tensor_overrides(const GraphView& graph, const QuantizationConfig& config) {
  for (const auto& [tensor, channels] : config.extra_options.tensor_quant_overrides) {
    const onnx::TensorProto* values = graph.initializer(tensor);
    if (!values && graph.producer_of(tensor) < 0 && !graph.is_graph_input(tensor))
      refuse(tensor, "is not present in the model");
    if (channels.empty()) continue;
    values ? check_constant(tensor, *values, channels)
           : check_activation(tensor, channels, config.activation_type);
  }
}

bool receives_conversion(const ConvertOverride& conversion, const onnx::NodeProto& reader) {
  const auto& names = conversion.recv_nodes;
  return !names || std::ranges::find(*names, reader.name()) != names->end();
}

GivenParams given_params(const std::vector<TensorOverride>& channels) {
  GivenParams out;
  const auto add = [](std::vector<double>& all, const ChannelValues& some) {
    all.insert(all.end(), some.values.begin(), some.values.end());
  };
  for (const TensorOverride& each : channels) {
    add(out.scale, each.scale);
    add(out.zero_point, each.zero_point);
    add(out.rmin, each.rmin);
    add(out.rmax, each.rmax);
  }
  return out;
}

std::vector<QuantType> wanted_types(const QuantizationConfig& config) {
  std::vector<QuantType> types{config.activation_type, config.weight_type};
  for (const auto& [tensor, channels] : config.extra_options.tensor_quant_overrides) {
    for (const TensorOverride& each : channels) {
      if (each.quant_type) types.push_back(*each.quant_type);
      if (each.convert) types.push_back(*each.convert->quant_type);
    }
  }
  return types;
}

}  // namespace qtool
