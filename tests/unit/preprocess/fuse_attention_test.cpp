#include <limits>
#include <span>
#include <string>

#include "preprocess/fusion.h"
#include "preprocess/preprocess.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// Two heads of four from [batch, length, 8]; the products with weights are left out.
constexpr const char* kNumbers =
    "<int64[4] heads = {0, 0, 2, 4}, int64[3] joined = {0, 0, 8}, int64[2] rows = {-1, 8}, "
    "int64[3] flat = {-1, 3, 4}, int64[4] back = {-1, 2, 4, 3}, int64[4] four = {2, 2, 3, 4}, "
    "int64[1] zero = {0}, int64[1] one = {1}, int64[1] wide = {8}, float none = {0}, "
    "float root = {2}, float half = {0.5}, float part = {0.70710677}, float third = {0.3}, "
    "float low = {-3.4e38}, float lowest = {-3.4028234663852886e38}, float mild = {-100}, "
    "float[2,1,1] each_head = {0.5, 0.25}>";

constexpr const char* kQuery = "q3 = Reshape (q, heads) q4 = Transpose <perm = [0, 2, 1, 3]> (q3) ";
constexpr const char* kKeys = "k3 = Reshape (k, heads) kt = Transpose <perm = [0, 2, 3, 1]> (k3) ";
constexpr const char* kValues =
    "v3 = Reshape (v, heads) v4 = Transpose <perm = [0, 2, 1, 3]> (v3) ";
constexpr const char* kScores = "s = MatMul (q4, kt) d = Div (s, root) ";
constexpr const char* kSoftmax = "p = Softmax <axis = -1> (d) ";
constexpr const char* kResult =
    "c = MatMul (p, v4) ct = Transpose <perm = [0, 2, 1, 3]> (c) y = Reshape (ct, joined) ";

const std::string kSplit = std::string(kQuery) + kKeys + kValues;
const std::string kPlain = kSplit + kScores + kSoftmax + kResult;

Model model_of(int opset, const std::string& body, const std::string& more_inputs = {},
               const std::string& output = "float[A,B,C] y", const std::string& batch = "2") {
  const std::string shape = "[" + batch + ",3,8]";
  return text_model("<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) +
                    "]> agraph (float" + shape + " q, float" + shape + " k, float" + shape + " v" +
                    more_inputs + ") => (" + output + ") " + kNumbers + " { " + body + " }");
}

bool fuse_contrib(Model& model) { return fuse_attention(model, Operators::Contrib); }
bool fuse_standard(Model& model) { return fuse_attention(model, Operators::Standard); }

std::string left(const Model& model) { return op_types(after_pass(model, fuse_contrib).graph()); }
std::string left(const std::string& body, const std::string& more_inputs = {}) {
  return left(model_of(17, body, more_inputs));
}
std::string left_standard(const std::string& body, const std::string& more_inputs = {}) {
  return op_types(after_pass(model_of(23, body, more_inputs), fuse_standard).graph());
}

/// The one node of that operator.
const onnx::NodeProto& only(const Model& model, const std::string& op_type) {
  const onnx::NodeProto* found = nullptr;
  for (const auto& node : model.graph().node())
    if (node.op_type() == op_type) found = &node;
  REQUIRE(found);
  return *found;
}

double scale_of(const Model& model, const std::string& op_type) {
  return float_attribute(only(model, op_type), "scale", 0);
}

}  // namespace

TEST_CASE("attention becomes ONNX's operator, or ONNX Runtime's where that is asked for",
          "[preprocess]") {
  CHECK(left(kPlain) == "MultiHeadAttention");
  CHECK(left_standard(kPlain) == "Attention");
  CHECK(op_types(after_pass(model_of(22, kPlain), fuse_standard).graph()).find("Softmax") !=
        std::string::npos);
  const Model fused = after_pass(model_of(17, kPlain), fuse_contrib);
  CHECK(int_attribute(only(fused, "MultiHeadAttention"), "num_heads", 0) == 2);
  CHECK(scale_of(fused, "MultiHeadAttention") == 0);  // the default
  CHECK(fused.opset("com.microsoft") == 1);
}

TEST_CASE("all ways to scale the scores are one", "[preprocess]") {
  const std::string plain_scores = "s = MatMul (q4, kt) p = Softmax <axis = -1> (s) ";
  const std::string end = "s = MatMul (qs, ks) p = Softmax <axis = -1> (s) ";
  const std::string by_both = "qs = Mul (q4, part) ks = Mul (kt, part) ";
  const std::string early = "k3 = Reshape (k, heads) kt = Transpose <perm = [0, 2, 3, 1]> (k3) ";
  for (const std::string& body :
       {kSplit + "s = MatMul (q4, kt) d = Mul (half, s) " + kSoftmax, kSplit + by_both + end,
        "qh = Mul (q, half) q3 = Reshape (qh, heads) q4 = Transpose <perm = [0, 2, 1, 3]> (q3) " +
            early + kValues + plain_scores,
        "q3 = Reshape (q, heads) qh = Div (q3, root) q4 = Transpose <perm = [0, 2, 1, 3]> (qh) " +
            early + kValues + plain_scores}) {
    CAPTURE(body);
    CHECK(left(body + kResult) == "MultiHeadAttention");
    CHECK(left_standard(body + kResult) == "Attention");
  }
  const Model unscaled = after_pass(model_of(17, kSplit + plain_scores + kResult), fuse_contrib);
  CHECK(scale_of(unscaled, "MultiHeadAttention") == 1);
  const Model third = after_pass(
      model_of(23, kSplit + "s = MatMul (q4, kt) d = Mul (s, third) " + kSoftmax + kResult),
      fuse_standard);
  CHECK(scale_of(third, "Attention") == Approx(0.3));
}

TEST_CASE("all ways to turn the keys are one", "[preprocess]") {
  const std::string rest = std::string(kScores) + kSoftmax + kResult;
  for (const std::string keys :
       {"k3 = Reshape (k, heads) k4 = Transpose <perm = [0, 2, 1, 3]> (k3) "
        "kt = Transpose <perm = [0, 1, 3, 2]> (k4) ",
        "k3 = Reshape (k, heads) k4 = Transpose <perm = [0, 2, 1, 3]> (k3) "
        "kf = Reshape (k4, flat) kg = Transpose <perm = [0, 2, 1]> (kf) kt = Reshape (kg, "
        "back) "}) {
    CAPTURE(keys);
    CHECK(left(kQuery + keys + kValues + rest) == "MultiHeadAttention");
    CHECK(left_standard(kQuery + keys + kValues + rest) == "Attention");
  }
}

TEST_CASE("heads that come apart are taken as they are", "[preprocess]") {
  const std::string inputs = ", float[2,2,3,4] q4, float[2,2,3,4] k4, float[2,2,3,4] v4";
  const std::string body =
      "kt = Transpose <perm = [0, 1, 3, 2]> (k4) s = MatMul (q4, kt) d = Div (s, root) "
      "p = Softmax <axis = -1> (d) ";
  const std::string end = "c = MatMul (p, v4) ct = Transpose <perm = [0, 2, 1, 3]> (c) ";
  CHECK(left(body + end + "y = Reshape (ct, joined)", inputs) ==
        "Transpose Reshape MultiHeadAttention");
  CHECK(left_standard(body + end + "y = Reshape (ct, joined)", inputs) ==
        "Attention Transpose Reshape");
  const std::string output = "float[A,B,C,D] y";
  const Model apart = model_of(17, body + "y = MatMul (p, v4)", inputs, output);
  CHECK(left(apart) == "Transpose Reshape MultiHeadAttention Reshape Transpose");
  const Model standard = model_of(23, body + "y = MatMul (p, v4)", inputs, output);
  CHECK(op_types(after_pass(standard, fuse_standard).graph()) == "Attention");
}

TEST_CASE("attention whose heads are part of the batch has one head", "[preprocess]") {
  const std::string body =
      "kt = Transpose <perm = [0, 2, 1]> (k) s = MatMul (q, kt) d = Mul (s, half) "
      "p = Softmax <axis = -1> (d) y = MatMul (p, v)";
  CHECK(left(body) == "MultiHeadAttention");
  CHECK(left_standard(body) == "Attention");
  const std::string masked =
      "kt = Transpose <perm = [0, 2, 1]> (k) s = MatMul (q, kt) a = Add (s, m) "
      "p = Softmax <axis = -1> (a) y = MatMul (p, v)";
  CHECK(left(masked, ", float[2,3,3] m") == "Unsqueeze MultiHeadAttention");
  CHECK(left_standard(masked, ", float[2,3,3] m") == "Unsqueeze Max Attention");
}

TEST_CASE("what reads rows of joined heads still does", "[preprocess]") {
  const std::string body = kSplit + kScores + kSoftmax +
                           "c = MatMul (p, v4) ct = Transpose <perm = [0, 2, 1, 3]> (c) "
                           "y = Reshape (ct, rows) ";
  CHECK(left(model_of(17, body, "", "float[A,B] y")) == "MultiHeadAttention Reshape");
}

TEST_CASE("masks are stretched as far as the operators want them", "[preprocess]") {
  const std::string body =
      kSplit + kScores + "a = Add (d, m) p = Softmax <axis = -1> (a) " + kResult;
  CHECK(left(body, ", float[2,2,3,3] m") == "MultiHeadAttention");
  CHECK(left(body, ", float[1,1,3,3] m") == "MultiHeadAttention");
  CHECK(left(body, ", float[2,1,1,3] m") == "Expand MultiHeadAttention");
  CHECK(left(body, ", float[2,3,3] m") == "Unsqueeze MultiHeadAttention");
  CHECK(left(body, ", float[3,3] m") == "Unsqueeze MultiHeadAttention");
  CHECK(left(body, ", float[3] m") == "Unsqueeze Expand MultiHeadAttention");
  CHECK(left_standard(body, ", float[2,1,1,3] m") == "Max Expand Attention");
  CHECK(left_standard(body, ", float[2,3,3] m") == "Unsqueeze Max Attention");
  CHECK(left_standard(body, ", float[3,3] m") == "Unsqueeze Max Attention");
}

TEST_CASE("a mask of free sizes is stretched by the shape of the queries, once for all layers",
          "[preprocess]") {
  const std::string layer = kSplit + kScores + "a = Add (d, m) p = Softmax <axis = -1> (a) " +
                            "c = MatMul (p, v4) ct = Transpose <perm = [0, 2, 1, 3]> (c) "
                            "o = Reshape (ct, joined) r = Add (o, q) "
                            "w3 = Reshape (r, heads) w4 = Transpose <perm = [0, 2, 1, 3]> (w3) "
                            "wt = Transpose <perm = [0, 2, 3, 1]> (w3) s2 = MatMul (w4, wt) "
                            "a2 = Add (s2, m) p2 = Softmax <axis = -1> (a2) c2 = MatMul (p2, w4) "
                            "ct2 = Transpose <perm = [0, 2, 1, 3]> (c2) y = Reshape (ct2, joined)";
  const Model model = text_model(
      std::string("<ir_version: 10, opset_import: [\"\" : 17]> agraph (float[N,S,8] q, "
                  "float[N,S,8] k, float[N,S,8] v, float[N,1,1,S] m) => (float[A,B,C] y) ") +
      kNumbers + " { " + layer + " }");
  CHECK(left(model) == "Shape Gather Concat Expand MultiHeadAttention Add MultiHeadAttention");
}

TEST_CASE("scores that a condition replaces are masked", "[preprocess]") {
  const auto body = [](const std::string& where) {
    return kSplit + kScores + where + " p = Softmax <axis = -1> (a) " + kResult;
  };
  CHECK(left(body("a = Where (m, d, low)"), ", bool[1,1,3,3] m") == "Where MultiHeadAttention");
  CHECK(left(body("a = Where (m, low, d)"), ", bool[2,1,1,3] m") ==
        "Where Expand MultiHeadAttention");
  CHECK(left(body("sh = Shape (d) e = Expand (m, sh) a = Where (e, low, d)"),
             ", bool[2,1,1,3] m") == "Where Expand MultiHeadAttention");
  // Added to a score, this does not come to the same as in place of it.
  CHECK(left(body("a = Where (m, d, mild)"), ", bool[1,1,3,3] m").find("Softmax") !=
        std::string::npos);
}

TEST_CASE("two masks come one after the other", "[preprocess]") {
  const std::string body = kSplit + kScores +
                           "b = Where (future, d, low) a = Add (b, m) "
                           "p = Softmax <axis = -1> (a) " +
                           kResult;
  CHECK(left(body, ", bool[1,1,3,3] future, float[2,1,1,3] m") == "Where Add MultiHeadAttention");
  CHECK(left(body, ", bool[3,3] future, float[2,1,1,3] m") ==
        "Unsqueeze Where Add MultiHeadAttention");
  // Their sum may be -inf, with which ONNX's operator does something else.
  CHECK(left_standard(body, ", bool[3,3] future, float[2,1,1,3] m").find("Softmax") !=
        std::string::npos);
  CHECK(left(body, ", bool[1,1,1,3] future, float[2,1,1,3] m") ==
        "Where Add Expand MultiHeadAttention");
  // What both hide is hidden no more than what one of them hides.
  const std::string twice = kSplit + kScores +
                            "b = Where (m, d, lowest) a = Where (n, b, lowest) "
                            "p = Softmax <axis = -1> (a) " +
                            kResult;
  CHECK(left(twice, ", bool[2,2,3,3] m, bool[2,2,3,3] n") == "Where Where MultiHeadAttention");
}

TEST_CASE("rows that are hidden whole are what they were", "[preprocess]") {
  const std::string masked = "a = Where (m, d, lowest) p = Softmax <axis = -1> (a) ";
  const std::string added =
      "b = Where (m, none, lowest) a = Add (d, b) p = Softmax <axis = -1> (a) ";
  // Of three random conditions each, some rows hold none that is true.
  for (const std::string& mask : {masked, added}) {
    CAPTURE(mask);
    CHECK(left(kSplit + kScores + mask + kResult, ", bool[2,2,3,3] m") ==
          "Where MultiHeadAttention");
    CHECK(left_standard(kSplit + kScores + mask + kResult, ", bool[2,2,3,3] m") ==
          "Where Max Attention");
  }
}

TEST_CASE("a mask of infinities stays with ONNX's operator, which makes no NaN", "[preprocess]") {
  Model model = model_of(23,
                         kSplit + kScores +
                             "b = Where (m, none, low) a = Add (d, b) "
                             "p = Softmax <axis = -1> (a) " +
                             kResult,
                         ", bool[2,2,3,3] m");
  for (auto& tensor : *model.graph().mutable_initializer()) {
    const float infinity = -std::numeric_limits<float>::infinity();
    if (tensor.name() == "low")
      tensor = make_tensor("low", ElementType::Float, {}, std::as_bytes(std::span(&infinity, 1)));
  }
  std::vector<std::string> notes;
  ShapeInference(model, notes).run();
  const auto stays = op_types(after_pass(model, fuse_standard).graph());
  CHECK(stays.find("Softmax") != std::string::npos);
  CHECK(count_attention(model).obstacles.size() == 1);
  CHECK(left(model) == "Where MultiHeadAttention");
}

TEST_CASE("what only looks like attention stays", "[preprocess]") {
  const auto stays = [](const std::string& body, const std::string& more_inputs = {},
                        const std::string& output = "float[A,B,C] y") {
    CAPTURE(body);
    CHECK(left(model_of(17, body, more_inputs, output)).find("Softmax") != std::string::npos);
    const Model newer = model_of(23, body, more_inputs, output);
    CHECK(op_types(after_pass(newer, fuse_standard).graph()).find("Softmax") != std::string::npos);
  };
  stays(kSplit + kScores + "p = Softmax <axis = 2> (d) " + kResult);
  stays(kSplit + kScores + "n = Softmax <axis = -1> (d) p = Add (n, m) " + kResult,
        ", float[2,2,3,3] m");
  stays(kSplit + "s = MatMul (q4, kt) d = Mul (s, each_head) " + kSoftmax + kResult);
  stays(kSplit + "s = MatMul (q4, kt) d = Mul (s, m) " + kSoftmax + kResult, ", float m");
  stays(kPlain, "", "float[A,B,C] y, float[A,B,D,E] d");  // somebody reads the scores
  stays(kPlain, "", "float[A,B,C] y, float[A,B,D,E] p");
  stays(kPlain + "z = Relu (s) ", "", "float[A,B,C] y, float[A,B,D,E] z");
  stays("q3 = Reshape (q, heads) q4 = Transpose <perm = [0, 2, 1, 3]> (q3) " +
            std::string(kValues) + "s = MatMul (q4, kt) d = Div (s, root) " + kSoftmax + kResult,
        ", float[2,2,4,3] kt");  // keys that nobody turns
  // The mask makes more scores than there are queries.
  stays(kQuery + ("k1 = Reshape (k, heads) kt = Transpose <perm = [0, 2, 3, 1]> (k1) " +
                  std::string(kValues) + kScores + "a = Add (d, m) p = Softmax <axis = -1> (a) " +
                  "y = MatMul (p, v4)"),
        ", float[2,2,2,3,3] m", "float[A,B,C,D,E] y");
}

TEST_CASE("heads of unknown number stay, and the report says so", "[preprocess]") {
  Model model = text_model(
      "<ir_version: 10, opset_import: [\"\" : 17]> agraph (float[N,H,S,4] q, float[N,H,S,4] k, "
      "float[N,H,S,4] v) => (float[A,B,C,D] y) { kt = Transpose <perm = [0, 1, 3, 2]> (k) "
      "s = MatMul (q, kt) p = Softmax <axis = -1> (s) y = MatMul (p, v) }");
  PreprocessConfig config;
  config.fusions = {"attention"};
  const PreprocessReport report = preprocess(model, config);
  CHECK(op_types(model.graph()) == "Transpose MatMul Softmax MatMul");
  REQUIRE(report.patterns_left.size() == 1);
  CHECK(report.patterns_left[0].fusion == "attention");
  CHECK(report.patterns_left[0].count == 1);
  CHECK(report.patterns_left[0].reason == "heads or their sizes are not known");
  REQUIRE(report.notes.size() == 1);
  CHECK(report.notes[0] ==
        "preprocess.fusions: attention left as it is, 1 found: heads or their sizes are not known");
}

TEST_CASE("float16 is left where ONNX Runtime computes it otherwise", "[preprocess]") {
  const auto obstacles = [](int opset, const std::string& scores) {
    Model model = text_model("<ir_version: 10, opset_import: [\"\" : " + std::to_string(opset) +
                             "]> agraph (float16[2,3,8] q, float16[2,3,8] k, float16[2,3,8] v, "
                             "float16[2,3,3] m) => (float16[A,B,C] y) { "
                             "kt = Transpose <perm = [0, 2, 1]> (k) s = MatMul (q, kt) " +
                             scores + " y = MatMul (p, v) }");
    std::vector<std::string> notes;
    ShapeInference(model, notes).run();
    const auto found = count_attention(model).obstacles;
    fuse_contrib(model);
    return found.empty() ? op_types(model.graph()) : found.begin()->first;
  };
  const std::string plain = "p = Softmax <axis = -1> (s)";
  const std::string masked = "a = Add (s, m) p = Softmax <axis = -1> (a)";
  CHECK(obstacles(17, plain) == "MultiHeadAttention computes in float32 only");
  CHECK(obstacles(23, plain) == "Transpose MatMul Softmax Attention");
  CHECK(obstacles(23, masked) == "Attention adds a mask of float16 in float32");
}

TEST_CASE("a mask of which no size is known is taken to fit", "[preprocess]") {
  const Model model = text_model(
      std::string("<ir_version: 10, opset_import: [\"\" : 17]> agraph (float[N,S,8] q, "
                  "float[N,S,8] k, float[N,S,8] v, bool[A,B,C,D] m) => (float[E,F,G] y) ") +
      kNumbers + " { " + kSplit + kScores +
      "z = Shape (q) n = Gather <axis = 0> (z, zero) l = Gather <axis = 0> (z, one) "
      "to = Concat <axis = 0> (n, l, wide) b = Where (m, none, low) a = Add (d, b) "
      "p = Softmax <axis = -1> (a) c = MatMul (p, v4) "
      "ct = Transpose <perm = [0, 2, 1, 3]> (c) y = Reshape (ct, to) }");
  CHECK(left(model) == "Where Shape Gather Concat Expand MultiHeadAttention");
}
