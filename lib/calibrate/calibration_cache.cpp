#include "calibrate/calibration_cache.h"

#include <span>
#include <utility>

#include "base/text.h"
#include "config/enum_names.h"
#include "config/json.h"

namespace qtool {
namespace {

using Object = JsonValue::Object;
using List = JsonValue::List;

JsonValue text(std::string word) { return {std::move(word)}; }
JsonValue number(float value) { return {static_cast<double>(value)}; }

/// The class that a decoder there makes of the object; each kind of object has its own.
JsonMember class_name(const char* name) { return {"CLS", text(name)}; }

JsonValue array(JsonValue data, const char* type) {
  return {Object{{"data", std::move(data)}, {"dtype", text(type)}, class_name("numpy.array")}};
}

JsonValue array_of(std::span<const float> values) {
  List list;
  for (const float value : values) list.push_back(number(value));
  return array({std::move(list)}, "float32");
}

JsonValue array_of(std::span<const std::int64_t> values) {
  List list;
  for (const std::int64_t value : values) list.emplace_back(value);
  return array({std::move(list)}, "int64");
}

/// MinMax there keeps arrays of one element or one per channel, the others arrays without an axis.
JsonValue ends(std::span<const float> values, CalibrationMethod method) {
  const bool is_array = peer_method_name(method) == "MinMax" || values.size() != 1;
  return is_array ? array_of(values) : array(number(values.front()), "float32");
}

JsonValue tensor_json(const CachedTensor& tensor, CalibrationMethod method) {
  Object out;
  if (tensor.spread) {
    out.push_back({"avg", {tensor.spread->average}});
    out.push_back({"std", {tensor.spread->deviation}});
  }
  out.push_back({"lowest", ends(tensor.lowest, method)});
  out.push_back({"highest", ends(tensor.highest, method)});
  if (!tensor.counts.empty()) {
    out.push_back({"hist", array_of(tensor.counts)});
    out.push_back({tensor.spread ? "hist_edges" : "bins", array_of(tensor.edges)});
  }
  out.push_back(class_name("TensorData"));
  return {std::move(out)};
}

}  // namespace

std::string peer_method_name(CalibrationMethod method) {
  switch (method) {
    case CalibrationMethod::Entropy:
      return "Entropy";
    case CalibrationMethod::Percentile:
      return "Percentile";
    case CalibrationMethod::Distribution:
      return "Distribution";
    default:
      return "MinMax";
  }
}

CalibrationCache cache_of(const TensorRanges& ranges, const std::vector<std::string>& names,
                          CalibrationMethod method) {
  CalibrationCache out;
  out.method = method;
  for (const auto& [name, range] : ranges)
    out.tensors[name] = {
        .lowest = {range.min}, .highest = {range.max}, .spread = {}, .counts = {}, .edges = {}};
  for (const std::string& name : names) {
    if (!ranges.contains(name)) out.without_range.push_back(name);
  }
  return out;
}

std::string calibration_cache_text(const CalibrationCache& cache) {
  Object data;
  for (const auto& [name, tensor] : cache.tensors)
    data.push_back({name, tensor_json(tensor, cache.method)});
  const std::string method = peer_method_name(cache.method);
  Object out{
      class_name("TensorsData"),
      {"data", {std::move(data)}},
      {"calibration_method",
       {Object{class_name("CalibrationMethod"), {"value", text("CalibrationMethod." + method)}}}},
      {"smooth_quant", {cache.smooth_quant}}};
  if (const std::string name(enum_name(cache.method)); name != to_lower(method))
    out.push_back({kCacheMethodKey, text(name)});
  if (!cache.without_range.empty()) {
    List names;
    for (const std::string& name : cache.without_range) names.push_back(text(name));
    out.push_back({kCacheWithoutRangeKey, {std::move(names)}});
  }
  return to_compact_json({std::move(out)}) + "\n";
}

}  // namespace qtool
