#include "float16/exact_numbers.h"

#include "catch.h"
#include "converted.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

/// A letter per node: e where its numbers must be exact.
std::string exact(const std::string& text) {
  const Model model = typed_model(text);
  std::string out;
  for (const bool is_exact : nodes_with_exact_numbers(ModelIndex(model)))
    out += is_exact ? "e" : "-";
  return out;
}

}  // namespace

TEST_CASE("exact numbers: from a shape to a shape", "[float16]") {
  CHECK(exact("agraph (float[N] x) => (int64[1] y) { s = Shape (x) f = Cast <to: int = 1> (s) h = "
              "Sqrt (f) y = Cast <to: int = 7> (h) }") == "-ee-");
}

TEST_CASE("exact numbers: positions in a comparison and below a sine", "[float16]") {
  CHECK(
      exact("agraph (int64[4] p, float[4] d) => (bool[4] y) <float c = {3}> { f = Cast <to: int = "
            "1> (p) y = Less (f, c) }") == "ee");
  CHECK(exact("agraph (int64[4] p) => (float[4] y) <float c = {0.1}> { f = Cast <to: int = 1> (p) "
              "m = Mul (f, c) s = Sin (m) y = Relu (s) }") == "eee-");
}

TEST_CASE("exact numbers: data is none, though it may end as integers", "[float16]") {
  CHECK(exact("agraph (float[4] x) => (int64[4] y) { r = Round (x) y = Cast <to: int = 7> (r) }") ==
        "--");
  CHECK(exact("agraph (int64[4] m, float[4] x) => (float[4] y) <float c = {-1e4}> { f = Cast <to: "
              "int = 1> (m) n = Mul (f, c) y = Add (x, n) }") == "---");
}
