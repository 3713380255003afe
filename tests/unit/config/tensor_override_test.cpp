#include "config/tensor_override.h"

#include "catch.h"
#include "config/load.h"
#include "error_text.h"

namespace qtool {
namespace {

constexpr const char* kKey = "quantization.extra_options.TensorQuantOverrides";

Config loaded(const std::string& overrides) {
  return load_config({{}, {{"--set", kKey, {overrides}}}});
}

/// The fault in what is said of the tensor `t`, without the place.
std::string fault(const std::string& override) {
  const std::string text = testing::error_text([&] { loaded("{\"t\": [" + override + "]}"); });
  const std::string place = std::string("--set: ") + kKey + ".t[0]";
  return text.starts_with(place) ? text.substr(place.size()) : text;
}

TEST_CASE("tensor override: numbers and lists of them are read", "[config]") {
  const Config config = loaded(
      R"({"w": [{"quant_type": "QInt8", "axis": 1, "scale": [0.5, 0.25], "zero_point": [0, 1]}],
          "x": [{"quant_type": "uint8", "convert": {"quant_type": "uint16", "recv_nodes": ["n"]}}],
          "y": [{"rmin": -1, "rmax": 2.5}], "z": []})");
  const auto& overrides = config.quantization.extra_options.tensor_quant_overrides;
  REQUIRE(overrides.size() == 4);
  const TensorOverride& w = overrides.at("w").front();
  CHECK(w.quant_type == QuantType::Int8);
  CHECK(w.axis == 1);
  CHECK(w.scale.values == std::vector<double>{0.5, 0.25});
  CHECK(w.zero_point.values == std::vector<double>{0, 1});
  CHECK(overrides.at("x").front().convert->quant_type == QuantType::UInt16);
  CHECK(overrides.at("x").front().convert->recv_nodes == std::vector<std::string>{"n"});
  CHECK(overrides.at("y").front().rmax.values == std::vector<double>{2.5});
  CHECK(overrides.at("z").empty());
}

TEST_CASE("tensor override: a scale must be positive", "[config]") {
  CHECK(fault(R"({"quant_type": "uint8", "scale": 0.0, "zero_point": 0})") ==
        ".scale: found 0, expected a number above 0");
  CHECK(fault(R"({"quant_type": "uint8", "scale": -0.5, "zero_point": 0})") ==
        ".scale: found -0.5, expected a number above 0");
  CHECK(fault(R"({"scale": [1, 0], "zero_point": [0, 0]})") ==
        ".scale[1]: found 0, expected a number above 0");
}

TEST_CASE("tensor override: a zero point must be a value of the type", "[config]") {
  CHECK(fault(R"({"quant_type": "uint8", "scale": 0.1, "zero_point": 300})") ==
        ".zero_point: found 300, expected a whole number from 0 to 255");
  CHECK(fault(R"({"quant_type": "int4", "scale": 0.1, "zero_point": 0.5})") ==
        ".zero_point: found 0.5, expected a whole number from -8 to 7");
  CHECK(fault(R"({"scale": 0.1, "zero_point": 70000})") ==
        ".zero_point: found 70000, expected a whole number from -32768 to 65535");
}

TEST_CASE("tensor override: parts that do not go together are refused in ONNX Runtime's words",
          "[config]") {
  CHECK(fault(R"({"scale": 0.1})") == ": Must provide both 'scale' and 'zero_point'");
  CHECK(fault(R"({"zero_point": 1})") == ": Must provide both 'scale' and 'zero_point'");
  CHECK(fault(R"({"scale": 0.1, "zero_point": 1, "symmetric": true, "rmax": 1})") ==
        ": option(s) [symmetric, rmax] are invalid with 'scale' and 'zero_point'");
  CHECK(fault(R"({"scale": 0.1, "zero_point": 1, "reduce_range": true})") ==
        ": option(s) [reduce_range] are invalid with 'scale' and 'zero_point'");
  CHECK(fault(R"({"scale": [0.1, 0.2], "zero_point": 1})") ==
        ": found 2 scales and 1 zero points, expected as many");
  CHECK(fault(R"({"rmin": 1})").empty());
  CHECK(fault(R"({"rmin": [1, 2]})") == ": expected 'rmin' and 'rmax' together, as many of each");
  CHECK(fault(R"({"rmin": 1, "rmax": 0})") == ": found rmin 1 above rmax 0");
}

TEST_CASE("tensor override: a conversion needs another type", "[config]") {
  CHECK(fault(R"({"convert": {"symmetric": true}})") ==
        ".convert: has no 'quant_type', expected the type to convert to");
  CHECK(fault(R"({"quant_type": "int8", "convert": {"quant_type": "int8"}})") ==
        ".convert: converts to the type that the tensor has already");
  CHECK(fault(R"({"convert": {"quant_type": "int8", "reduce_range": true}})") ==
        ".convert.reduce_range: unknown key\n"
        "  hint: known: quant_type, scale, zero_point, rmin, rmax, symmetric, recv_nodes");
}

TEST_CASE("tensor override: what is written can be read again", "[config]") {
  const Config config = loaded(
      R"({"w": [{"quant_type": "int8", "scale": [0.5, 0.25], "zero_point": [0, 1]}, {}],
          "x": [{"convert": {"quant_type": "uint16", "scale": 0.5, "zero_point": 3}}]})");
  CHECK(to_compact_json(write_value(config.quantization.extra_options.tensor_quant_overrides)) ==
        R"({"w":[{"quant_type":"int8","scale":[0.5,0.25],"zero_point":[0,1]},{}],)"
        R"("x":[{"convert":{"quant_type":"uint16","scale":0.5,"zero_point":3}}]})");
}

}  // namespace
}  // namespace qtool
