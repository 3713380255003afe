#include "base/error.h"
#include "catch.h"
#include "graph_text.h"
#include "model/graph_view.h"
#include "preprocess/opset_changes.h"
#include "preprocess/preprocess.h"
#include "run_model.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

struct Case {
  int opset;
  std::string inputs, outputs, initializers, body;
  std::string expected;  ///< operators at the newest opset, where they differ from those before
};

Model made(const Case& from) {
  const std::string initializers = from.initializers.empty() ? "" : " <" + from.initializers + ">";
  return text_model("<ir_version: 7, opset_import: [\"\" : " + std::to_string(from.opset) +
                    "]> agraph (" + from.inputs + ") => (" + from.outputs + ")" + initializers +
                    " { " + from.body + " }");
}

const Case kCases[] = {
    {12, "float[2,3,4] x", "float[2,3,4] y", "", "y = Softmax (x)",
     "Shape Flatten Softmax Reshape"},
    {12, "float[2,3,4] x", "float[2,3,4] y", "", "y = Softmax <axis = 0> (x)",
     "Shape Flatten Softmax Reshape"},
    {12, "float[2,3,4] x", "float[2,3,4] y", "", "y = LogSoftmax <axis = -2> (x)",
     "Shape Flatten LogSoftmax Reshape"},
    {12, "float[2,3,4] x", "float[2,3,4] y", "", "y = Hardmax (x)",
     "Shape Flatten Hardmax Reshape"},
    {12, "float[2,3,4] x", "float[2,3,4] y", "", "y = Softmax <axis = 2> (x)", ""},
    {12, "float[2,3,4] x", "float[2,3,4] y", "", "y = Softmax <axis = -1> (x)", ""},
    {12, "float[2,3] x", "float[2,3] y", "", "y = Softmax (x)", ""},
    {12, "float[2,3,1,1] x", "float[2,3,1,1] y", "", "y = Softmax (x)", ""},
    {12, "float[2,1,1,3] x", "float[2,1,1,3] y", "", "y = Softmax (x)", ""},
    {12, "float[N,3,M] x", "float[N,3,M] y", "", "y = Softmax (x)",
     "Shape Flatten Softmax Reshape"},
    {11, "float[2,1,3,1] x", "float[2,3] y", "", "y = Squeeze <axes = [1, 3]> (x)", ""},
    {11, "float[1,3,1] x", "float[3] y", "", "y = Squeeze (x)", ""},
    {11, "float[2,3] x", "float[1,2,3,1] y", "", "y = Unsqueeze <axes = [0, 3]> (x)", ""},
    {11, "float[5,3] x", "float[2,3] y, float[3,3] z", "", "y, z = Split <split = [2, 3]> (x)", ""},
    {11, "float[4,3] x", "float[2,3] y, float[2,3] z", "", "y, z = Split (x)", ""},
    {13, "float[4,3] x", "float[2,3] y, float[2,3] z", "", "y, z = Split (x)", ""},
    {11, "float[2,3,4] x", "float[2,1,4] y", "", "y = ReduceSum <axes = [1]> (x)", ""},
    {11, "float[2,3,4] x", "float y", "", "y = ReduceSum <keepdims = 0> (x)", ""},
    {13, "float[2,3,4] x", "float[2,4] y", "", "y = ReduceMean <axes = [1], keepdims = 0> (x)", ""},
    {13, "float[2,3,4] x", "float[1,1,1] y", "", "y = ReduceL2 (x)", ""},
    {10, "float[2,3] x", "float[2,3] y", "", "y = Clip <min = -0.5, max = 0.5> (x)", ""},
    {10, "float[2,3] x", "float[2,3] y", "", "y = Clip <max = 0.25> (x)", ""},
    {10, "float[2,3] x", "float[2,3] y", "", "y = Clip <min = 0.0> (x)", ""},
    {10, "float16[2,3] x", "float16[2,3] y", "", "y = Clip <min = 0.1> (x)", ""},
    {10, "float[2,3] x", "float[4,4] y", "", "y = Pad <pads = [1, 0, 1, 1], value = 1.5> (x)", ""},
    {10, "float[2,3] x", "float[4,4] y", "", "y = Pad <pads = [1, 0, 1, 1], mode = \"edge\"> (x)",
     ""},
    {9, "float[4,5] x", "float[2,3] y", "", "y = Slice <starts = [1, 0], ends = [3, -2]> (x)", ""},
    {9, "float[4,5] x", "float[4,2] y", "", "y = Slice <axes = [1], starts = [-2], ends = [9]> (x)",
     ""},
    {9, "float[4,5] x", "float[4,2] y, int64[4,2] z", "", "y, z = TopK <k = 2> (x)", ""},
    {9, "float[2,3] x", "float[2,3] y", "", "y = Dropout <ratio = 0.25> (x)", ""},
    {9, "float[2,3] x", "float[2,3] y", "", "y, mask = Dropout (x)", ""},
    {7, "float[1,2,3,3] x", "float[1,2,6,6] y", "",
     "y = Upsample <scales = [1.0, 1.0, 2.0, 2.0]> (x)", "Resize"},
    {7, "float[1,2,3,3] x", "float[1,2,6,6] y", "",
     "y = Upsample <mode = \"linear\", scales = [1.0, 1.0, 2.0, 2.0]> (x)", "Resize"},
    {9, "float[1,2,3,3] x", "float[1,2,4,7] y", "float[4] s = {1, 1, 1.5, 2.5}",
     "y = Upsample (x, s)", "Resize"},
    {10, "float[1,2,6,6] x", "float[1,2,3,2] y", "float[4] s = {1, 1, 0.5, 0.4}",
     "y = Resize (x, s)", ""},
    {10, "float[1,2,6,6] x", "float[1,2,3,9] y", "float[4] s = {1, 1, 0.5, 1.5}",
     "y = Resize <mode = \"linear\"> (x, s)", ""},
    {10, "float[1,2,6,6] x", "float[1,2,9,9] y", "float[4] s = {1, 1, 1.5, 1.5}",
     "y = Resize (x, s)", ""},
    {10, "float[1,2,6,6] x", "float[1,2,3,9] y", "float[4] s = {1, 1, 0.5, 1.5}",
     "y = Resize (x, s)", "Resize Resize"},
    {10, "float[1,2,5,7] x", "float[1,2,7,2] y", "float[4] s = {1, 1, 1.5, 0.3}",
     "y = Resize <mode = \"nearest\"> (x, s)", "Resize Resize"},
    {9, "float[3,3] x", "float[3,3] y", "int64[1,3] i = {2, 0, 1}, float[1,3] u = {7, 8, 9}",
     "y = Scatter (x, i, u)", "ScatterElements"},
    {8, "float[2,2,3] x", "float[2,2,3] y",
     "float[2] s = {1, 2}, float[2] o = {0.5, 1}, float[2] m = {1, -1}, float[2] v = {2, 3}",
     "y = BatchNormalization <spatial = 1> (x, s, o, m, v)", ""},
    {9, "float[2,2,3] x", "float[2,2,3] y",
     "float[2] s = {1, 2}, float[2] o = {0.5, 1}, float[2] m = {1, -1}, float[2] v = {2, 3}",
     "y = BatchNormalization (x, s, o, m, v)", ""},
    {13, "float[1,1,4,4] x", "float[1,1,2,2] y",
     "float[1,4] r = {0.3, 0.2, 3.1, 2.7}, int64[1] i = {0}",
     "y = RoiAlign <output_height = 2, output_width = 2> (x, r, i)", ""},
    {16, "float[1,1,4,4] x", "float[1,1,1,2] y", "float[1,1,2,2] g = {0.3, -0.2, 0.1, 0.7}",
     "y = GridSample <mode = \"bilinear\"> (x, g)", ""},
    {16, "float[1,1,4,4] x", "float[1,1,1,2] y", "float[1,1,2,2] g = {0.3, -0.2, 0.1, 0.7}",
     "y = GridSample <mode = \"bicubic\"> (x, g)", ""},
    {17, "float[1,4,1] x", "float[1,4,2] y", "", "y = DFT (x)", ""},
    {17, "float[1,6,1] x", "float[1,6,2] y", "", "y = DFT <axis = -2> (x)", ""},
    {12, "float[1,2,4,4] x", "float[1,2,3,3] y", "", "y = MaxPool <kernel_shape = [2, 2]> (x)", ""},
    {7, "float[2,3] x, float[3] z", "float[2,3] y", "",
     "a = Add (x, z) b = Sum (a, a) c = Max (b, x) y = PRelu (c, z)", ""},
    {9, "float[2,3] x", "float[2,2] y", "float[3,2] w = {1, 2, 3, 4, 5, 6}, float[2] b = {1, 2}",
     "y = Gemm <beta = 2.0> (x, w, b)", ""},
    {9, "int64[2] x", "float[2,3] y", "int64 d = {3}, float[2] v = {0, 1}", "y = OneHot (x, d, v)",
     ""},
    // Extensions: the node stays as it is, and so must what it computes.
    {7, "float[2,3,4] x", "float[2,12] y", "", "y = Flatten (x)", ""},
    {7, "float[1,2,5,5] x", "float[1,2,3,3] y", "",
     "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x)", ""},
    {7, "float[1,2,5,5] x", "float[1,2,3,3] y", "",
     "y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], auto_pad = \"SAME_UPPER\"> (x)",
     ""},
    {7, "float[1,2,5,5] x", "float[1,2,3,3] y", "",
     "y = LpPool <kernel_shape = [3, 3], strides = [2, 2], auto_pad = \"SAME_LOWER\"> (x)", ""},
    {8, "float[1,1,4,4] x", "float[1,1,3,3] y, int64[1,1,3,3] z", "",
     "y, z = MaxPool <kernel_shape = [2, 2]> (x)", ""},
    {7, "float[1,1,4,4] x", "float[1,1,4,4] y", "float[1,1,2,2] w = {1, 2, 3, 4}",
     "y = Conv <auto_pad = \"SAME_UPPER\"> (x, w)", ""},
    {7, "float[1,1,3,3] x", "float[1,1,6,6] y", "float[1,1,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
     "y = ConvTranspose <strides = [2, 2], auto_pad = \"SAME_UPPER\"> (x, w)", ""},
    {7, "float[1,1,3,3] x", "float[1,1,6,6] y", "float[1,1,3,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}",
     "y = ConvTranspose <strides = [2, 2], output_shape = [6, 6]> (x, w)", ""},
    {7, "float[1,8,2,2] x", "float[1,2,4,4] y", "", "y = DepthToSpace <blocksize = 2> (x)", ""},
    {7, "float[2,3] x", "float[4,3] y", "", "y = Concat <axis = 0> (x, x)", ""},
    {7, "float[3,2] x", "float[2,2] y", "int64[2] i = {2, 0}", "y = Gather <axis = 0> (x, i)", ""},
    {7, "float[2,3] x", "int64[2] y", "", "y = ArgMax <axis = 1, keepdims = 0> (x)", ""},
    {7, "float[2,3] x, float[3] z", "bool[2,3] y, bool[2,3] t", "",
     "y = Greater (x, z) t = Less (x, z)", ""},
    {7, "float[2,3] x", "float[2,3] y", "float p = {2}", "y = Pow (x, p)", ""},
    {7, "float[2,3] x", "int64[2,3] y", "", "y = Cast <to = 7> (x)", ""},
    {7, "float[1,3,4,4] x", "float[1,3,4,4] y", "", "y = LRN <size = 3> (x)", ""},
    {9, "float[2,3] x", "float[1,3] y", "bool[2] k = {0, 1}", "y = Compress <axis = 0> (x, k)", ""},
    {9, "float[2,3] x", "float[2,3] y", "", "y = MeanVarianceNormalization <axes = [1]> (x)", ""},
    {7, "float[3,1,2] x", "float[3,1,1,2] y",
     "float[1,6,2] w = {1, 0, 0, 1, 1, 1, 0, 2, 2, 0, 1, 3}, float[1,6,2] r = {1, 0, 0, 1, 1, 1, "
     "0, "
     "2, 2, 0, 1, 3}",
     "y = GRU <hidden_size = 2> (x, w, r)", ""},
    {7, "float[3,1,2] x", "float[3,1,1,1] y, float[1,1,1] h, float[1,1,1] c",
     "float[1,4,2] w = {1, 0, 0, 1, 1, 1, 0, 2}, float[1,4,1] r = {1, 0, 0, 1}",
     "y, h, c = LSTM <hidden_size = 1> (x, w, r)", ""},
    {11, "float[2,5] x", "float[2,5] y", "int64 a = {1}",
     "y = CumSum <exclusive = 1, reverse = 1> (x, a)", ""},
    {11, "float[4] x", "float[4] y", "int64[2,1] i = {3, 1}, float[2] u = {9, 8}",
     "y = ScatterND (x, i, u)", ""},
    {11, "float[2,3] x", "float[1,3] y", "int64[1,1] i = {1}", "y = GatherND (x, i)", ""},
    {11, "float[2,3] x", "float[2,3] y", "float a = {-0.5}, float b = {0.5}", "y = Clip (x, a, b)",
     ""},
    {11, "float[1,1,4,4] x", "float[1,1,7,6] y",
     "float[0] r = {}, float[0] e = {}, int64[4] s = {1, 1, 7, 6}",
     "y = Resize <mode = \"cubic\"> (x, r, e, s)", ""},
    {11, "float[1,1,4,4] x", "float[1,1,8,2] y", "float[0] r = {}, float[4] s = {1, 1, 2, 0.5}",
     "y = Resize <mode = \"linear\", coordinate_transformation_mode = \"align_corners\"> (x, r, s)",
     ""},
    {11, "float[1,1,4,4] x", "float[1,1,8,2] y", "float[0] r = {}, float[4] s = {1, 1, 2, 0.5}",
     "y = Resize <coordinate_transformation_mode = \"tf_half_pixel_for_nn\"> (x, r, s)", ""},
    {11, "float[2,3] x", "float[3,5] y", "int64[4] p = {1, 1, 0, 1}, float v = {2.5}",
     "y = Pad (x, p, v)", ""},
    {11, "float[2,3] x", "float[2,3] y", "float s = {0.1}, uint8 z = {100}",
     "q = QuantizeLinear (x, s, z) y = DequantizeLinear (q, s, z)", ""},
    {13, "float[2,3] x", "float[3,2] y", "int64[2] s = {3, -1}", "y = Reshape (x, s)", ""},
};

}  // namespace

TEST_CASE("a model of an older opset whose operators stayed as they are can be raised",
          "[preprocess]") {
  Model model = text_model(R"(<ir_version: 7, opset_import: ["" : 6]>
    agraph (float[2] x) => (float[2] y) { y = Clip <min = 0.0, max = 0.5> (x) })");
  const Model before = model.clone();
  upgrade_opset(model, 11);
  CHECK(model.opset() == 11);
  CHECK(model.graph().node(0).input_size() == 3);
  CHECK(difference(before, model) == 0);
}

TEST_CASE("operators mean the same after each opset is reached", "[preprocess]") {
  for (const Case& each : kCases) {
    CAPTURE(each.opset, each.body);
    const Model before = made(each);
    for (const std::int64_t opset : {11, 12, 13, 15, 18, 20, 21}) {
      if (opset <= each.opset) continue;
      CAPTURE(opset);
      Model after = before.clone();
      upgrade_opset(after, opset);
      CHECK(after.opset() == opset);
      CHECK(difference(before, after) <= 1e-6);
      if (opset == 21)
        CHECK(op_types(after.graph()) ==
              (each.expected.empty() ? op_types(before.graph()) : each.expected));
    }
  }
}

TEST_CASE("a Softmax over the last axis says so as the converter of ONNX does", "[preprocess]") {
  Model model = made({11, "float[2,3] x", "float[2,3] y", "", "y = Softmax <axis = 1> (x)", ""});
  upgrade_opset(model, 13);
  CHECK(int_attribute(model.graph().node(0), "axis", 0) == -1);
}

TEST_CASE("operators in branches and loops are raised with the rest", "[preprocess]") {
  const Model before = text_model(R"(<ir_version: 6, opset_import: ["" : 11]>
    agraph (float[2,1,3] x, bool p, int64 n) => (float[2,3] y, float[2,3] z) {
      y = If (p) <
        then_branch = yes () => (float[2,3] t) { t = Squeeze <axes = [1]> (x) },
        else_branch = no () => (float[2,3] e) { s = Squeeze <axes = [1]> (x) e = Neg (s) }
      >
      z = Loop (n, p, y) <body = step (int64 i, bool go, float[2,3] v) => (bool on, float[2,3] w) {
        on = Identity (go)
        u = Unsqueeze <axes = [0]> (v)
        k = ReduceSum <axes = [0], keepdims = 0> (u)
        w = Neg (k)
      }>
    })");
  Model after = before.clone();
  upgrade_opset(after, 13);
  CHECK(difference(before, after, 1) == 0);
  CHECK(difference(before, after, 2) == 0);
  CHECK(subgraph(after.graph(), 0, "then_branch").node(0).input(1) == "t_axes");
  CHECK(subgraph(after.graph(), 0, "else_branch").initializer_size() == 1);
}

TEST_CASE("names, metadata and other domains stay as they are", "[preprocess]") {
  Model model = text_model(
      R"(<ir_version: 7, opset_import: ["" : 12, "com.microsoft" : 1], producer_name: "someone">
    agraph (float[2,3] x) => (float[2,3] y) {
      [act] a = com.microsoft.Gelu (x)
      [soft] y = Softmax (a)
    })");
  std::vector<std::string> notes;
  infer_shapes(model, notes);
  upgrade_opset(model, 13);
  CHECK(model.opset("com.microsoft") == 1);
  CHECK(model.proto().producer_name() == "someone");
  CHECK(model.graph().node(0).name() == "act");
  CHECK(model.graph().node(1).name() == "soft");
}

TEST_CASE("the IR version rises no more than the opset needs", "[preprocess]") {
  const Case relu{11, "float[2] x", "float[2] y", "", "y = Relu (x)", ""};
  Model model = made(relu);
  upgrade_opset(model, 13);
  CHECK(model.proto().ir_version() == 7);
  upgrade_opset(model, 19);
  CHECK(model.proto().ir_version() == 9);
  upgrade_opset(model, 21);
  CHECK(model.proto().ir_version() == 10);
  upgrade_opset(model, 13);
  CHECK(model.opset() == 21);
}

TEST_CASE("what cannot be raised is refused by the node's name", "[preprocess]") {
  const auto refusal = [](const std::string& text, std::int64_t opset) {
    Model model = text_model(text);
    try {
      upgrade_opset(model, opset);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(refusal(R"(<ir_version: 7, opset_import: ["" : 9]>
    agraph (float[2,3] x) => (float[2,3] y, float[2,3] m) { [drop] y, m = Dropout (x) })",
                13) ==
        "node 'drop' (Dropout): cannot be raised to opset 10, its mask is read as numbers");
  CHECK(
      refusal(
          R"(<ir_version: 7, opset_import: ["" : 6]> agraph (float[2] x) => (float[2] y) { y = Add (x, x) })",
          13) == "model: its opset 6 cannot be raised, expected at least 7");
  CHECK(refusal(R"(agraph (float[2] x) => (float[2] y) { y = Relu (x) })", 99) ==
        "opset 99: unknown, expected at most 25");
}
