#include "inspect/lint.h"

#include <algorithm>

#include "catch.h"
#include "config/load.h"
#include "quantize/planner.h"
#include "text_model.h"

namespace qtool {
namespace {

using testing::text_model;

/// x is quantized with this type and zero point, w with that type and an axis.
Model quantized(const std::string& x_type, int x_zero, const std::string& w_type,
                const std::string& axis = "1") {
  return text_model("agraph (float[1,2] x) => (float[1,2] y) <float xs = {0.5}, " + x_type +
                    " xz = {" + std::to_string(x_zero) + "}, " + w_type +
                    "[2,2] w = {1, 2, 3, 4}, float[2] ws = {1, 2}, " + w_type +
                    "[2] wz = {0, 0}> { xq = QuantizeLinear (x, xs, xz)\n"
                    "xd = DequantizeLinear (xq, xs, xz)\n"
                    "wd = DequantizeLinear <axis = " +
                    axis + "> (w, ws, wz)\n y = MatMul (xd, wd) }");
}

std::vector<std::string> faults(const Model& model, Preset preset) {
  std::vector<std::string> out;
  for (const LintFinding& each : lint(model, preset))
    out.push_back(each.node + " " + each.tensor + ": " + each.fault);
  return out;
}

std::string values(int count) {
  std::string out = "1";
  for (int i = 1; i < count; ++i) out += ", " + std::to_string(i % 7 - 3);
  return out;
}

using Lines = std::vector<std::string>;

TEST_CASE("lint: uint8 activations suit the CPU and not TensorRT", "[inspect]") {
  const Model model = quantized("uint8", 128, "int8");
  CHECK(faults(model, Preset::Cpu).empty());
  CHECK(faults(model, Preset::OpenVino).empty());
  const Lines found = faults(model, Preset::TensorRt);
  REQUIRE(found.size() == 2);
  CHECK(found[0] ==
        "node making 'xq' (QuantizeLinear) x: activation is uint8, expected int8 "
        "or float8e4m3fn");
  CHECK(found[1] ==
        "node making 'xq' (QuantizeLinear) x: activation has a zero point, "
        "expected 0: a symmetric range");
}

TEST_CASE("lint: uint8 weights and scales along another axis do not suit the CPU", "[inspect]") {
  CHECK(faults(quantized("uint8", 3, "uint8"), Preset::Cpu) ==
        Lines{"node making 'wd' (DequantizeLinear) w: weight is uint8, expected int8"});
  CHECK(faults(quantized("uint8", 3, "int8", "0"), Preset::Cpu) ==
        Lines{"node making 'wd' (DequantizeLinear) w: weight has its scales along axis 0, "
              "expected 1 for node making 'y' (MatMul)"});
}

TEST_CASE("lint: QNN and MIGraphX take no scale per channel of a MatMul", "[inspect]") {
  CHECK(faults(quantized("uint8", 3, "int8"), Preset::Qnn).size() == 1);
  CHECK(faults(quantized("int8", 0, "int8"), Preset::MiGraphX) ==
        Lines{"node making 'wd' (DequantizeLinear) w: weight has one scale per channel, "
              "expected one in all"});
}

TEST_CASE("lint: a quantized bias does not suit TensorRT", "[inspect]") {
  const Model model = text_model(R"(agraph (float[1,2] x) => (float[1,2] y)
      <int32[2] b = {1, 2}, float s = {0.5}, int32 z = {0}> {
        bd = DequantizeLinear (b, s, z)
        y = Add (x, bd) })");
  CHECK(faults(model, Preset::TensorRt) ==
        Lines{"node making 'bd' (DequantizeLinear) b: bias is quantized, expected float"});
  CHECK(faults(model, Preset::Cpu).empty());
}

TEST_CASE("lint: of a float model there is nothing to say", "[inspect]") {
  const Model model = text_model("agraph (float[1,2] x) => (float[1,2] y) { y = Softmax (x) }");
  CHECK(faults(model, Preset::Qnn).empty());
}

TEST_CASE("lint: on QNN an operator between pairs is expected everywhere", "[inspect]") {
  const Model model = text_model(R"(agraph (float[1,2] x) => (float[1,2] y)
      <float s = {0.5}, uint8 z = {0}, float[1,2] r> {
        q = QuantizeLinear (x, s, z)
        d = DequantizeLinear (q, s, z)
        r = Relu (d)
        y = Softmax (r) })");
  CHECK(faults(model, Preset::Qnn) ==
        Lines{"node making 'y' (Softmax) r: is float, expected a quantized value"});
}

TEST_CASE("lint: what each preset makes suits its target", "[inspect]") {
  for (const Preset preset : {Preset::Cpu, Preset::CpuAvx2, Preset::Arm64, Preset::TensorRt,
                              Preset::OpenVino, Preset::Qnn, Preset::MiGraphX}) {
    Model model = text_model(
        "agraph (float[1,8,4,4] x) => (float[1,8,4,4] y) <float[8,8,1,1] w = {" + values(64) +
        "}, float[8] b = {" + values(8) + "}, float[8,8,1,1] v = {" + values(64) + R"(}> {
          c = Conv (x, w, b)
          r = Relu (c)
          d = Conv (r, v)
          s = Add (d, r)
          t = Relu (s)
          u = Conv (t, w)
          y = Softmax (u) })");
    const Config config = preset_defaults(preset, CalibrationMethod::MinMax);
    const Planner planner(config.quantization, preset);
    TensorRanges ranges;
    for (const std::string& name : planner.measurements(model).tensors) ranges[name] = {-1, 2};
    const QuantPlan plan = planner.plan(model, ranges, {});
    CHECK_FALSE(plan.tensors.empty());
    const Model result = planner.lower(std::move(model), plan);
    INFO("preset number " << static_cast<int>(preset));
    CHECK(faults(result, preset) == Lines{});
  }
}

}  // namespace
}  // namespace qtool
