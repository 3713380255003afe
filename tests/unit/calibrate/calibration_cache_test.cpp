#include "calibrate/calibration_cache.h"

#include "catch.h"
#include "config/json.h"

namespace qtool {

// What save_tensors_data of onnxruntime.quantization 1.32 writes for the same ranges.
TEST_CASE("calibration cache: has the form that onnxruntime.quantization reads", "[calibrate]") {
  const std::string text =
      calibration_cache({{"a", {-1.5F, 0.1F}}, {"b", {0, 3}}}, CalibrationMethod::MinMax);
  const auto end = [](const std::string& value) {
    return R"({"data":[)" + value + R"(],"dtype":"float32","CLS":"numpy.array"})";
  };
  CHECK(to_compact_json(parse_json(text, "cache")) ==
        R"({"CLS":"TensorsData","data":{"a":{"lowest":)" + end("-1.5") + R"(,"highest":)" +
            end("0.10000000149011612") + R"(,"CLS":"TensorData"},"b":{"lowest":)" + end("0") +
            R"(,"highest":)" + end("3") +
            R"(,"CLS":"TensorData"}},"calibration_method":{"CLS":"CalibrationMethod","value":)"
            R"("CalibrationMethod.MinMax"},"smooth_quant":false})");
}

TEST_CASE("calibration cache: names the method as it is called there", "[calibrate]") {
  const auto method = [](CalibrationMethod of) {
    const JsonValue cache = parse_json(calibration_cache({}, of), "cache");
    return *cache.find("calibration_method")->find("value")->as<std::string>();
  };
  CHECK(method(CalibrationMethod::Entropy) == "CalibrationMethod.Entropy");
  CHECK(method(CalibrationMethod::Percentile) == "CalibrationMethod.Percentile");
  CHECK(method(CalibrationMethod::Mse) == "CalibrationMethod.MinMax");
}

}  // namespace qtool
