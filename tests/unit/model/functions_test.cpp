#include "model/functions.h"

#include "catch.h"
#include "error_text.h"
#include "text_model.h"

using namespace qtool;
using qtool::testing::error_text;
using qtool::testing::text_proto;

namespace {

constexpr const char* kHead = R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
  g (float[N] x) => (float[N] y) { y = local.F0(x) })";

std::string function(const std::string& name, const std::string& body) {
  return R"( <domain: "local", opset_import: ["" : 17, "local" : 1]> )" + name + " (i) => (o) { " +
         body + " }";
}

std::string refusal(const std::string& functions) {
  const onnx::ModelProto model = text_proto(kHead + functions);
  return error_text([&] { check_functions(model, "m.onnx"); });
}

}  // namespace

TEST_CASE("functions: calls that end are fine", "[model]") {
  CHECK(refusal(function("F0", "t = local.F1(i) o = local.F1(t)") + function("F1", "o = Neg(i)"))
            .empty());
}

TEST_CASE("functions: calls that never end are refused", "[model]") {
  CHECK(refusal(function("F0", "o = local.F0(i)")) ==
        "m.onnx: function 'F0' calls itself, directly or through others");
  CHECK(refusal(function("F0", "o = local.F1(i)") + function("F1", "o = local.F0(i)")) ==
        "m.onnx: function 'F0' calls itself, directly or through others");
  CHECK(refusal(function("F0",
                         "c = local.C(i) o = If(c) <then_branch = t () => (a) { a = local.F0(i) }, "
                         "else_branch = e () => (b) { b = Neg(i) }>")) ==
        "m.onnx: function 'F0' calls itself, directly or through others");
}

TEST_CASE("functions: a few lines that stand for billions of nodes are refused", "[model]") {
  std::string all;
  for (int i = 0; i < 12; ++i) {
    std::string body;
    for (int call = 0; call < 8; ++call) {
      body += (call < 7 ? "t" + std::to_string(call) : "o") + " = local.F" + std::to_string(i + 1) +
              "(" + (call > 0 ? "t" + std::to_string(call - 1) : "i") + ") ";
    }
    all += function("F" + std::to_string(i), body);
  }
  CHECK(refusal(all + function("F12", "o = Neg(i)")) ==
        "m.onnx: functions expand to more than 10000000 nodes");
}

TEST_CASE("functions: a chain of calls has its limit", "[model]") {
  std::string all;
  for (int i = 0; i < 150; ++i)
    all += function("F" + std::to_string(i), "o = local.F" + std::to_string(i + 1) + "(i)");
  CHECK(refusal(all) == "m.onnx: function 'F100': functions call each other deeper than 100");
}

TEST_CASE("functions: two of one name are refused", "[model]") {
  CHECK(refusal(function("F0", "o = Neg(i)") + function("F0", "o = Abs(i)")) ==
        "m.onnx: function 'F0' is there twice");
}
