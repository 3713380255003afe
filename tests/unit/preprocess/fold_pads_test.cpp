#include "preprocess/passes.h"
#include "run_pass.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

std::string left(const std::string& pads, const std::string& layer, const std::string& more = "") {
  return left_by("agraph (float[1,2,6,6] x) => (float[A,B,C,D] y) <int64[8] pads = {" + pads +
                     "}, float[1,2,3,3] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9}" + more +
                     "> { p = Pad (x, pads" + (more.empty() ? "" : ", value") + ") y = " + layer +
                     " }",
                 fold_pads);
}

}  // namespace

TEST_CASE("zeros around an image are the convolution's own padding", "[preprocess]") {
  CHECK(left("0,0,1,2,0,0,0,1", "Conv (p, w)") == "Conv");
  CHECK(left("0,0,1,2,0,0,0,1", "Conv <pads = [1, 0, 1, 0]> (p, w)") == "Conv");
}

TEST_CASE("other padding stays", "[preprocess]") {
  CHECK(left("0,0,-1,0,0,0,0,0", "Conv (p, w)") == "Pad Conv");
  CHECK(left("0,0,1,1,0,0,1,1", "Conv (p, w)", ", float value = {2}") == "Pad Conv");
  CHECK(left("0,0,1,1,0,0,1,1", "Conv <auto_pad = \"SAME_UPPER\"> (p, w)") == "Pad Conv");
}

TEST_CASE("an average counts zeros that were padded", "[preprocess]") {
  CHECK(left("0,0,1,1,0,0,1,1", "AveragePool <kernel_shape = [2, 2]> (p)") == "AveragePool");
  CHECK(left("0,0,1,1,0,0,1,1", "AveragePool <kernel_shape = [2, 2], pads = [1, 1, 1, 1]> (p)") ==
        "Pad AveragePool");
}

TEST_CASE("a maximum over zeros is not one over nothing", "[preprocess]") {
  CHECK(left("0,0,1,1,0,0,1,1", "MaxPool <kernel_shape = [2, 2]> (p)") == "Pad MaxPool");
}
