#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

TEST_CASE("the last of several changes of shape reads the first one's input", "[preprocess]") {
  CHECK(
      left_by(
          R"(agraph (float[N,2,3] x) => (float[A,6] y) <int64[3] s = {0,3,2}, int64[2] t = {-1,6}> {
    a = Reshape (x, s)
    y = Reshape (a, t)
  })",
          merge_reshapes, 0) == "Reshape");
  CHECK(
      left_by(
          R"(agraph (float[2,1,3] x) => (float[1,2,3] y) <int64[1] one = {1}, int64[1] zero = {0}> {
    a = Squeeze (x, one)
    y = Unsqueeze (a, zero)
  })",
          merge_reshapes, 0) == "Reshape");
  CHECK(left_by(R"(agraph (float[N,2,3] x) => (float[A,6] y) <int64[4] s = {0,2,3,1}> {
    a = Reshape (x, s)
    y = Flatten <axis = 1> (a)
  })",
                merge_reshapes, 0) == "Reshape");
}

TEST_CASE("axes that two nodes add are added by one", "[preprocess]") {
  const Model model = after_pass(
      text_model(
          R"(agraph (float[N,M] x) => (float[A,1,1,B,1] y) <int64[1] one = {1}, int64[2] more = {2,-1}> {
    a = Unsqueeze (x, one)
    y = Unsqueeze (a, more)
  })"),
      merge_reshapes, 0);
  CHECK(op_types(model.graph()) == "Unsqueeze");
}

TEST_CASE("a zero in a target counts axes of what the node read before", "[preprocess]") {
  CHECK(
      left_by(
          R"(agraph (float[N,M,2] x) => (float[A,B] y) <int64[3] s = {2,-1,1}, int64[2] t = {0,-1}> {
    a = Reshape (x, s)
    y = Reshape (a, t)
  })",
          merge_reshapes, 0) == "Reshape");
  CHECK(
      left_by(
          R"(agraph (float[N,M,K] x) => (float[A,B] y) <int64[3] s = {-1,2,0}, int64[2] t = {0,-1}> {
    a = Reshape (x, s)
    y = Reshape (a, t)
  })",
          merge_reshapes, 0) == "Reshape Reshape");
}

TEST_CASE("a Transpose that moves axes of one element is a change of shape", "[preprocess]") {
  CHECK(left_by(
            R"(agraph (float[2,6,4] x) => (float[2,1,6,4] y) <int64[4] s = {2,6,1,4}> {
    a = Reshape (x, s)
    y = Transpose <perm = [0, 2, 1, 3]> (a)
  })",
            merge_reshapes, 0) == "Reshape");
  CHECK(left_by(
            R"(agraph (float[N,1,6,4] x) => (float[A,24] y) <int64[2] s = {-1,24}> {
    a = Transpose <perm = [0, 2, 3, 1]> (x)
    y = Reshape (a, s)
  })",
            merge_reshapes, 0) == "Reshape");
}

TEST_CASE("a Transpose of an axis that may have more than one element stays", "[preprocess]") {
  CHECK(left_by(
            R"(agraph (float[N,3] x) => (float[3,A,1] y) <int64[1] last = {2}> {
    a = Unsqueeze (x, last)
    y = Transpose <perm = [1, 0, 2]> (a)
  })",
            merge_reshapes, 0) == "Unsqueeze Transpose");
}

TEST_CASE("a Reshape back to the shape of what was reshaped goes with that", "[preprocess]") {
  CHECK(left_by(
            R"(agraph (float[N,M,K] x) => (float[N,M,K] y) <int64[1] all = {-1}> {
    a = Neg (x)
    s = Shape (a)
    f = Reshape (a, all)
    b = Reshape (f, s)
    y = Exp (b)
  })",
            merge_reshapes, 0) == "Neg Exp");
  CHECK(left_by(
            R"(agraph (float[N,M] x) => (float[M,N] y) <int64[1] all = {-1}> {
    t = Transpose <perm = [1, 0]> (x)
    s = Shape (t)
    f = Reshape (x, all)
    y = Reshape (f, s)
  })",
            merge_reshapes, 0) == "Transpose Shape Reshape Reshape");
}
