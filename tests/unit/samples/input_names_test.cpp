#include "samples/input_names.h"

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

}  // namespace

TEST_CASE("percent codes stand for bytes, and what is no code for itself", "[samples]") {
  const auto [text, decoded] = GENERATE(table<std::string, std::string>({
      {"a", "a"},
      {"a%2Fb", "a/b"},
      {"%2f%2F", "//"},
      {"%25", "%"},
      {"%252F", "%2F"},
      {"100%", "100%"},
      {"%2", "%2"},
      {"%zz", "%zz"},
      {"%+1", "%+1"},
      {"%C3%A9", "\xC3\xA9"},
      {"", ""},
  }));
  CHECK(percent_decode(text) == decoded);
}

TEST_CASE("a name is encoded so that it is decoded to itself", "[samples]") {
  CHECK(percent_encode("a/b:0") == "a%2Fb%3A0");
  const std::string name = GENERATE("x", "a/b", "%2F", "a?b*c<d>e|f\"g\\h", "\x01\x1f", "\xC3\xA9");
  CHECK(percent_decode(percent_encode(name)) == name);
}

TEST_CASE(
    "a file name means an input by its name, percent-encoded, or with _ for what it cannot hold",
    "[samples]") {
  const std::vector<TensorInfo> known = inputs({"x", "a/b", "a:b/c", "a%2Fb", "model/in:0"});
  const auto [stem, index] = GENERATE(table<std::string, std::optional<std::size_t>>({
      {"x", 0},
      {"a%2Fb", 3},  // the name itself before the name that is meant
      {"a%252Fb", 3},
      {"a_b", 1},
      {"a%3Ab%2Fc", 2},
      {"a_b_c", 2},
      {"a:b_c", 2},
      {"a_b%2Fc", 2},
      {"model_in_0", 4},
      {"model_in:0", 4},
      {"X", std::nullopt},
      {"", std::nullopt},
      {"a", std::nullopt},
      {"a-b", std::nullopt},
      {"modelxin_0", std::nullopt},
  }));
  INFO(stem);
  CHECK(find_input(stem, known, "f") == index);
}

TEST_CASE("_ that could be more than one input is refused, an exact name wins", "[samples]") {
  CHECK(failure_of([] {
          find_input("a_b", inputs({"a/b", "a:b"}), "s_1/a_b.npy");
        }) ==
        "exit 3: s_1/a_b.npy: could be input 'a/b' or 'a:b', expected a name that fits one of them "
        "| write what a file name "
        "cannot hold as a percent code: / is %2F, : is %3A");
  CHECK(find_input("a_b", inputs({"a/b", "a:b", "a_b"}), "f") == 2);
}

TEST_CASE("numbers are read from names like input_3", "[samples]") {
  CHECK(numbered("input_0", "input_") == 0);
  CHECK(numbered("input_12", "input_") == 12);
  for (const char* const stem : {"input_", "input_x", "input_-1", "input_1x", "input", "output_1",
                                 "input_99999999999999999999999"}) {
    CHECK(numbered(stem, "input_") == std::nullopt);
  }
}

TEST_CASE("an unknown name is answered with the known ones and the nearest", "[samples]") {
  CHECK(failure_of([] {
          refuse_unknown_input("pixel_value", inputs({"pixel_values", "mask"}), "f");
        }) ==
        "exit 3: f: the model has no input 'pixel_value', expected pixel_values, mask | did you "
        "mean 'pixel_values'?");
  CHECK(failure_of([] {
          refuse_unknown_input("stranger", inputs({"a", "ids"}), "f");
        }) == "exit 3: f: the model has no input 'stranger', expected a, ids");
  CHECK(failure_of([] { refuse_unknown_input("x", {}, "f"); }) ==
        "exit 3: f: the model has no input 'x', expected none");
}
