#include "catch.h"
#include "error_text.h"
#include "graph_text.h"
#include "model/graph_view.h"
#include "model/save.h"
#include "preprocess/passes.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

Model two_of_each() {
  return text_model(R"(agraph (float[1,2,3,4] a, float[1,2,3,4] b) =>
    (float[1,2,3,4] x, float[1,2,3,4] y) {
    s = Add (a, b)
    x = Abs (s)
    y = Mul (x, b)
  })");
}

PreprocessConfig last(std::vector<std::string> inputs, std::vector<std::string> outputs) {
  PreprocessConfig config;
  config.inputs_to_make_channel_last = std::move(inputs);
  config.outputs_to_make_channel_last = std::move(outputs);
  return config;
}

}  // namespace

TEST_CASE("callers give and take channels last, nodes see them second", "[preprocess]") {
  Model model = two_of_each();
  make_channel_last(model, last({"a", "b"}, {"x", "y"}));
  CHECK_NOTHROW(check_model(model, "result"));
  CHECK(op_types(model.graph()) == "Transpose Transpose Add Abs Mul Transpose Transpose");
  const GraphView view(model.graph());
  CHECK(view.shape_of("a") == std::vector<std::int64_t>{1, 3, 4, 2});
  CHECK(view.shape_of("a_channel_first") == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(view.shape_of("y") == std::vector<std::int64_t>{1, 3, 4, 2});
}

TEST_CASE("only inputs and outputs with channels can have them last", "[preprocess]") {
  Model model = two_of_each();
  CHECK(error_text([&] { make_channel_last(model, last({"z"}, {})); }) ==
        "preprocess.inputs_to_make_channel_last: 'z' is not present in the model\n"
        "  hint: known: a, b");
  Model flat = text_model("agraph (float[1,2] a) => (float[1,2] y) { y = Abs (a) }");
  CHECK(error_text([&] { make_channel_last(flat, last({}, {"y"})); }) ==
        "preprocess.outputs_to_make_channel_last: 'y' is float32[1,2], expected it to be of rank "
        ">= 3");
}
