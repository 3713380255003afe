#include "calibrate/calibration_cache.h"

#include "catch.h"
#include "config/json.h"
#include "error_text.h"

namespace qtool {
namespace {

using testing::failure_of;

std::string array(const std::string& data, const std::string& type = "float32") {
  return R"({"data":)" + data + R"(,"dtype":")" + type + R"(","CLS":"numpy.array"})";
}

std::string with(const std::string& data, const std::string& method, const std::string& more = "") {
  return R"({"CLS":"TensorsData","data":{)" + data +
         R"(},"calibration_method":{"CLS":"CalibrationMethod","value":"CalibrationMethod.)" +
         method + R"("},"smooth_quant":false)" + more + "}";
}

std::string text_of(const CalibrationCache& cache) {
  std::string out = calibration_cache_text(cache);
  REQUIRE(out.ends_with('\n'));
  out.pop_back();
  return out;
}

CalibrationCache read(const std::string& text) { return parse_calibration_cache(text, "c.json"); }
std::string failure(const std::string& text) {
  return failure_of([&] { read(text); });
}
/// Of the cache of one tensor `a`, which is on its second line.
std::string failure_of_tensor(const std::string& members, const std::string& method = "MinMax") {
  return failure(with("\n\"a\":{" + members + "}", method));
}

}  // namespace

// What save_tensors_data of onnxruntime.quantization 1.32 writes for the same ranges.
TEST_CASE("calibration cache: has the form that onnxruntime.quantization reads", "[calibrate]") {
  const auto tensor = [](const std::string& low, const std::string& high) {
    return R"({"lowest":)" + array(low) + R"(,"highest":)" + array(high) +
           R"(,"CLS":"TensorData"})";
  };
  const TensorRanges ranges = {{"a", {-1.5F, 0.1F}}, {"b", {0, 3}}};
  CHECK(text_of(cache_of(ranges, {}, CalibrationMethod::MinMax)) ==
        with(R"("a":)" + tensor("[-1.5]", "[0.10000000149011612]") + R"(,"b":)" +
                 tensor("[0]", "[3]"),
             "MinMax"));
  CHECK(text_of(cache_of({{"b", {0, 3}}}, {}, CalibrationMethod::Entropy)) ==
        with(R"("b":)" + tensor("0", "3"), "Entropy"));
}

TEST_CASE("calibration cache: histograms and spreads are arrays under the names there",
          "[calibrate]") {
  CalibrationCache cache;
  cache.method = CalibrationMethod::Percentile;
  cache.tensors["a"] = {{-1}, {1}, {}, {7, 9}, {-1, 0, 1}};
  const std::string ends = R"("lowest":)" + array("-1") + R"(,"highest":)" + array("1");
  const std::string hist = R"("hist":)" + array("[7,9]", "int64");
  CHECK(text_of(cache) == with(R"("a":{)" + ends + "," + hist + R"(,"bins":)" + array("[-1,0,1]") +
                                   R"(,"CLS":"TensorData"})",
                               "Percentile"));
  cache.method = CalibrationMethod::Distribution;
  cache.tensors["a"].spread = Spread{0.25, 0.5};
  CHECK(text_of(cache) ==
        with(R"("a":{"avg":0.25,"std":0.5,)" + ends + "," + hist + R"(,"hist_edges":)" +
                 array("[-1,0,1]") + R"(,"CLS":"TensorData"})",
             "Distribution"));
}

TEST_CASE("calibration cache: what was written is read again", "[calibrate]") {
  CalibrationCache cache = cache_of({{"a", {-1.5F, 0.1F}}, {"\xc3\xa4/\"", {1e-38F, 3e38F}}},
                                    {"a", "never"}, CalibrationMethod::Mse);
  cache.smooth_quant = true;
  cache.tensors["channels"] = {{-1, -2, -3}, {1, 2, 3}, {}, {}, {}};
  const CalibrationCache again = read(calibration_cache_text(cache));
  CHECK(again.method == CalibrationMethod::Mse);
  CHECK(again.smooth_quant);
  CHECK(again.without_range == std::vector<std::string>{"never"});
  REQUIRE(again.tensors.size() == 3);
  for (const auto& [name, tensor] : cache.tensors) {
    CHECK(again.tensors.at(name).lowest == tensor.lowest);
    CHECK(again.tensors.at(name).highest == tensor.highest);
  }
}

TEST_CASE("calibration cache: methods are named as there, and ours beside", "[calibrate]") {
  for (const auto& [method, name] : {std::pair{CalibrationMethod::MinMax, "MinMax"},
                                     {CalibrationMethod::Entropy, "Entropy"},
                                     {CalibrationMethod::Percentile, "Percentile"},
                                     {CalibrationMethod::Distribution, "Distribution"}}) {
    CHECK(text_of(cache_of({}, {}, method)) == with("", name));
    CHECK(read(with("", name)).method == method);
  }
  CHECK(text_of(cache_of({}, {}, CalibrationMethod::Auto)) ==
        with("", "MinMax", R"(,"qtool_method":"auto")"));
  CHECK(read(R"({"data":{},"calibration_method":"Entropy"})").method == CalibrationMethod::Entropy);
}

TEST_CASE("calibration cache: plain numbers, scalars and nested lists are values too",
          "[calibrate]") {
  const auto cache =
      read(with(R"("n":{"lowest":-1,"highest":2.5},"s":{"lowest":)" + array("-3") +
                    R"(,"highest":)" + array("4", "float16") + R"(},"c":{"lowest":)" +
                    array("[[-1],[-2]]") + R"(,"highest":)" + array("[[1],[2]]") + "}",
                "MinMax"));
  CHECK(cache.tensors.at("n").lowest == std::vector<float>{-1});
  CHECK(cache.tensors.at("n").highest == std::vector<float>{2.5F});
  CHECK(cache.tensors.at("s").highest == std::vector<float>{4});
  CHECK(cache.tensors.at("c").lowest == std::vector<float>{-1, -2});
}

TEST_CASE("calibration cache: without its field, SmoothQuant was not used", "[calibrate]") {
  CHECK_FALSE(read(R"({"data":{},"calibration_method":"MinMax"})").smooth_quant);
}

TEST_CASE("calibration cache: what is none is refused in one line", "[calibrate]") {
  CHECK(failure("") == "exit 3: c.json: is empty, expected a JSON object");
  CHECK(failure("[1]") == "exit 3: c.json: is no calibration cache of ONNX Runtime: has no 'data'");
  CHECK(failure(R"({"data":{}})") ==
        "exit 3: c.json: is no calibration cache of ONNX Runtime: has no 'calibration_method'");
  CHECK(failure(R"({"data":[],"calibration_method":"MinMax"})") ==
        "exit 3: c.json:1: data: found a list, expected an object with a member per tensor");
  CHECK(failure(R"({"data":{},"calibration_method":"Kl"})") ==
        "exit 3: c.json:1: calibration_method: found 'Kl', expected MinMax, Entropy, Percentile or "
        "Distribution");
  CHECK(failure(R"({"data":{},"calibration_method":7})") ==
        "exit 3: c.json:1: calibration_method: found 7, expected MinMax, Entropy, Percentile or "
        "Distribution");
  CHECK(failure(with("", "MinMax", R"(,"qtool_method":"kl")")) ==
        "exit 3: c.json:1: qtool_method: found 'kl'");
  CHECK(failure(R"({"data":{},"calibration_method":"MinMax","smooth_quant":1})") ==
        "exit 3: c.json:1: smooth_quant: found 1, expected true or false");
  CHECK(failure(with("", "MinMax", R"(,"qtool_without_range":[1])")) ==
        "exit 3: c.json:1: qtool_without_range: found 1, expected a name");
}

TEST_CASE("calibration cache: ends that are no range name the tensor and the line", "[calibrate]") {
  const std::string at = "exit 3: c.json:2: tensor 'a'";
  CHECK(failure_of_tensor("") == at + ": has no lowest");
  CHECK(failure_of_tensor(R"("lowest":1)") == at + ": has no highest");
  CHECK(failure(with("\n\"a\":3", "MinMax")) == at + ": has no lowest");
  CHECK(failure_of_tensor(R"("lowest":"1","highest":2)") ==
        at + ": lowest: found '1', expected a finite float32");
  CHECK(failure_of_tensor(R"("lowest":1,"highest":1e39)") ==
        at + ": highest: found 1e+39, expected a finite float32");
  CHECK(failure_of_tensor(R"("lowest":1,"highest":)" + array("[]")) ==
        at + ": highest: has no value, expected one, or one per channel");
  CHECK(failure_of_tensor(R"("lowest":1,"highest":)" + array("[2,3]")) ==
        at + ": has 1 lowest and 2 highest values, expected as many");
  CHECK(failure_of_tensor(R"("lowest":1,"highest":)" + array("[2]", "float64")) ==
        at + ": highest: has dtype 'float64', expected float32 or float16");
  CHECK(failure_of_tensor(R"("lowest":3,"highest":2)") ==
        at + ": lowest is 3, expected at most 2, the highest");
}

// Where all values share a bin, a percentile range there ends a bin before it begins.
TEST_CASE("calibration cache: a percentile may end before it begins", "[calibrate]") {
  CHECK(failure_of_tensor(R"("lowest":3,"highest":2.5)", "Percentile") == "no error");
}

}  // namespace qtool
