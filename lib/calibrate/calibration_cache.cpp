#include "calibrate/calibration_cache.h"

#include <utility>

#include "config/json.h"

namespace qtool {
namespace {

using Object = JsonValue::Object;

JsonValue text(const char* word) { return {std::string(word)}; }

/// The class that a decoder there makes of the object; each kind of object has its own.
JsonMember class_name(const char* name) { return {"CLS", text(name)}; }

const char* method_name(CalibrationMethod method) {
  switch (method) {
    case CalibrationMethod::Entropy:
      return "CalibrationMethod.Entropy";
    case CalibrationMethod::Percentile:
      return "CalibrationMethod.Percentile";
    default:
      return "CalibrationMethod.MinMax";
  }
}

/// Its MinMax keeps arrays of one element.
JsonValue end_of_range(float value) {
  const JsonValue number(static_cast<double>(value));
  return {Object{
      {"data", {JsonValue::List{number}}}, {"dtype", text("float32")}, class_name("numpy.array")}};
}

}  // namespace

std::string calibration_cache(const TensorRanges& ranges, CalibrationMethod method) {
  Object data;
  for (const auto& [name, range] : ranges) {
    data.push_back({name,
                    {Object{{"lowest", end_of_range(range.min)},
                            {"highest", end_of_range(range.max)},
                            class_name("TensorData")}}});
  }
  return to_json_text(
      {Object{class_name("TensorsData"),
              {"data", {std::move(data)}},
              {"calibration_method",
               {Object{class_name("CalibrationMethod"), {"value", text(method_name(method))}}}},
              {"smooth_quant", {false}}}});
}

}  // namespace qtool
