#include "samples/file_set.h"

#include "catch.h"
#include "samples.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::vector<TensorInfo> inputs(const std::vector<std::string>& names) {
  std::vector<TensorInfo> out;
  for (const std::string& name : names) out.push_back(input(name, ElementType::Float, {1}));
  return out;
}

/// `a.npy=in0 output_0.pb=out0`
std::string meaning(const std::vector<std::string>& files, const std::vector<std::string>& names,
                    bool with_outputs = false) {
  std::string out;
  for (const ValueFile& file : resolve_files(files, inputs(names), with_outputs, "s_1")) {
    out += (out.empty() ? "" : " ") + file.name + (file.is_output ? "=out" : "=in") +
           std::to_string(file.index);
  }
  return out;
}

std::string refusal(const std::vector<std::string>& files, const std::vector<std::string>& names,
                    bool with_outputs = false) {
  return failure_of([&] { meaning(files, names, with_outputs); });
}

}  // namespace

TEST_CASE("files belong to inputs by name or by position", "[samples]") {
  CHECK(meaning({"a.npy", "b.pb"}, {"b", "a"}) == "a.npy=in1 b.pb=in0");
  CHECK(meaning({"input_0.pb", "input_1.pb"}, {"b", "a"}) == "input_0.pb=in0 input_1.pb=in1");
  CHECK(meaning({"a.npy", "input_0.pb"}, {"b", "a"}) == "a.npy=in1 input_0.pb=in0");
  CHECK(meaning({}, {}).empty());
}

TEST_CASE("numbered files go by position where they count from 0, else by name first",
          "[samples]") {
  CHECK(meaning({"input_1.pb", "input_2.pb"}, {"input_1", "input_2"}) ==
        "input_1.pb=in0 input_2.pb=in1");
  CHECK(meaning({"input_0.pb", "input_1.pb"}, {"input_1", "input_0"}) ==
        "input_0.pb=in0 input_1.pb=in1");
  CHECK(meaning({"input_0.npy", "input_1.npy"}, {"input_1", "input_0"}) ==
        "input_0.npy=in1 input_1.npy=in0");
}

TEST_CASE("expected outputs are files only where they are wanted", "[samples]") {
  CHECK(meaning({"input_0.pb", "output_0.pb", "output_1.pb"}, {"x"}) == "input_0.pb=in0");
  CHECK(meaning({"input_0.pb", "output_0.pb", "output_1.pb"}, {"x"}, true) ==
        "input_0.pb=in0 output_0.pb=out0 output_1.pb=out1");
  CHECK(meaning({"output_0.pb"}, {"output_0"}, true) == "output_0.pb=in0");
  CHECK(refusal({"output_1.pb", "x.npy"}, {"x"}, true) ==
        "exit 3: s_1: holds output_1.pb, expected output_0.pb before it");
}

TEST_CASE("missing, unknown and doubled inputs are named", "[samples]") {
  CHECK(refusal({"a.npy"}, {"a", "ids"}) ==
        "exit 3: s_1: no file for input 'ids', expected ids.npy, ids.pb or input_1.pb");
  CHECK(refusal({}, {"a/b"}) ==
        "exit 3: s_1: no file for input 'a/b', expected a%2Fb.npy, a%2Fb.pb or input_0.pb");
  CHECK(refusal({"input_1.pb"}, {"a", "ids"}) ==
        "exit 3: s_1: no file for input 'a', expected a.npy, a.pb or input_0.pb");
  CHECK(refusal({"x.npy", "stranger.npy"}, {"x"}) ==
        "exit 3: s_1/stranger.npy: the model has no input 'stranger', expected x");
  CHECK(refusal({"output_0.npy", "x.npy"}, {"x"}) ==
        "exit 3: s_1/output_0.npy: the model has no input 'output_0', expected x");
  CHECK(refusal({"input_0.npy"}, {"x"}) ==
        "exit 3: s_1/input_0.npy: the model has no input 'input_0', expected x");
  CHECK(refusal({"input_0.pb", "input_7.pb"}, {"x"}) ==
        "exit 3: s_1/input_7.pb: the model has no input 7, expected a number below 1");
  CHECK(refusal({"x.npy", "x.pb"}, {"x"}) ==
        "exit 3: s_1: input 'x' has two files, x.npy and x.pb, expected one");
  CHECK(refusal({"input_0.pb", "input_00.pb"}, {"x"}) ==
        "exit 3: s_1: input 'x' has two files, input_0.pb and input_00.pb, expected one");
}
