#include "config/tensor_override.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "base/text.h"

namespace qtool {
namespace {

struct TypeRange {
  double min, max;
};

TypeRange range_of(QuantType type) {
  switch (type) {
    case QuantType::Int8:
      return {-128, 127};
    case QuantType::UInt8:
      return {0, 255};
    case QuantType::Int16:
      return {-32768, 32767};
    case QuantType::UInt16:
      return {0, 65535};
    case QuantType::Int4:
      return {-8, 7};
    case QuantType::UInt4:
      return {0, 15};
    case QuantType::Float8E4M3FN:
      return {0, 0};
  }
  return {0, 0};
}

bool given(const ChannelValues& values) { return !values.values.empty(); }

void check_zero_point(const Place& place, const std::optional<QuantType>& type,
                      const ChannelValues& zero_point) {
  // Where no type is given, the widest that any has: the tensor's own is known only with the model.
  const TypeRange range = type ? range_of(*type) : TypeRange{-32768, 65535};
  for (const double value : zero_point.values) {
    if (value == std::floor(value) && value >= range.min && value <= range.max) continue;
    throw place.member("zero_point", place.line)
        .error(fmt::format("found {}, expected a whole number from {} to {}", value, range.min,
                           range.max));
  }
}

void check_scales(const Place& place, const std::vector<double>& scales) {
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (scales[i] > 0) continue;
    const Place at = scales.size() == 1 ? place : place.element(i, place.line);
    throw at.error(fmt::format("found {}, expected a number above 0", scales[i]));
  }
}

/// The rules that an override and its `convert` share.
template <typename Override>
void check_parts(const Place& place, const Override& o, std::vector<std::string> also_given) {
  if (given(o.scale) != given(o.zero_point))
    throw place.error("Must provide both 'scale' and 'zero_point'");
  if (o.symmetric) also_given.emplace_back("symmetric");
  if (given(o.rmin)) also_given.emplace_back("rmin");
  if (given(o.rmax)) also_given.emplace_back("rmax");
  if (given(o.scale) && !also_given.empty()) {
    throw place.error(
        fmt::format("option(s) [{}] are invalid with 'scale' and 'zero_point'", join(also_given)));
  }
  check_scales(place.member("scale", place.line), o.scale.values);
  if (o.scale.values.size() != o.zero_point.values.size()) {
    throw place.error(fmt::format("found {} scales and {} zero points, expected as many",
                                  o.scale.values.size(), o.zero_point.values.size()));
  }
  check_zero_point(place, o.quant_type, o.zero_point);
  // Of a whole tensor one end may be given alone; of channels only both say which range is meant.
  const std::size_t ends = std::max(o.rmin.values.size(), o.rmax.values.size());
  if (ends > 1 && o.rmin.values.size() != o.rmax.values.size())
    throw place.error("expected 'rmin' and 'rmax' together, as many of each");
  for (std::size_t i = 0; i < std::min(o.rmin.values.size(), o.rmax.values.size()); ++i) {
    if (o.rmin.values[i] > o.rmax.values[i]) {
      throw place.error(
          fmt::format("found rmin {} above rmax {}", o.rmin.values[i], o.rmax.values[i]));
    }
  }
}

JsonValue without_nulls(const JsonValue& object) {
  JsonValue::Object out;
  for (const JsonMember& member : std::get<JsonValue::Object>(object.data)) {
    if (!member.value.is_null()) out.push_back(member);
  }
  return {std::move(out)};
}

}  // namespace

void describe(KeyList& keys, ConvertOverride& c) {
  keys.add("quant_type", c.quant_type, "Type to convert to.");
  keys.add("scale", c.scale, "Scale, with zero_point.");
  keys.add("zero_point", c.zero_point, "Zero point, with scale.");
  keys.add("rmin", c.rmin, "Least value of the range.");
  keys.add("rmax", c.rmax, "Greatest value of the range.");
  keys.add("symmetric", c.symmetric, "Symmetric about zero.");
  keys.add("recv_nodes", c.recv_nodes, "Consumers that get the converted tensor; null: all.");
}

void describe(KeyList& keys, TensorOverride& o) {
  keys.add("quant_type", o.quant_type, "Type of the tensor.");
  keys.add("scale", o.scale, "Scale, with zero_point.");
  keys.add("zero_point", o.zero_point, "Zero point, with scale.");
  keys.add("rmin", o.rmin, "Least value of the range.");
  keys.add("rmax", o.rmax, "Greatest value of the range.");
  keys.add("symmetric", o.symmetric, "Symmetric about zero.");
  keys.add("reduce_range", o.reduce_range, "7 of 8 bits, for constants.");
  keys.add("axis", o.axis, "Axis of the channels, for constants.", {.min = -64, .max = 63});
  keys.add("convert", o.convert, "Conversion to another type for some consumers.");
}

void read_value(const JsonValue& value, const Place& place, const Rule& rule, ChannelValues& out) {
  if (value.as<JsonValue::List>() != nullptr) return read_value(value, place, rule, out.values);
  if (value.is_null()) return out.values.clear();
  read_value(value, place, rule, out.values.emplace_back());
}

JsonValue write_value(const ChannelValues& value) {
  if (value.values.empty()) return {};
  return value.values.size() == 1 ? write_value(value.values.front()) : write_value(value.values);
}

JsonValue schema_of(const ChannelValues*, const Rule& rule) {
  const JsonValue number = schema_of(static_cast<const double*>(nullptr), rule);
  return {JsonValue::Object{{"anyOf", {JsonValue::List{number, schema_of_list(number)}}}}};
}

JsonValue write_value(const ConvertOverride& value) {
  ConvertOverride copy = value;
  return without_nulls(write_members(keys_of(copy)));
}

JsonValue write_value(const TensorOverride& value) {
  TensorOverride copy = value;
  return without_nulls(write_members(keys_of(copy)));
}

void read_value(const JsonValue& value, const Place& place, const Rule&, ConvertOverride& out) {
  read_members(value, place, keys_of(out));
  if (!out.quant_type) throw place.error("has no 'quant_type', expected the type to convert to");
  check_parts(place, out, {});
}

void read_value(const JsonValue& value, const Place& place, const Rule&, TensorOverride& out) {
  read_members(value, place, keys_of(out));
  std::vector<std::string> also_given;
  if (out.reduce_range) also_given.emplace_back("reduce_range");
  check_parts(place, out, std::move(also_given));
  if (out.convert && out.convert->quant_type == out.quant_type) {
    throw place.member("convert", place.line)
        .error("converts to the type that the tensor has already");
  }
}

}  // namespace qtool
