#include "preprocess/preprocess.h"

#include <algorithm>
#include <random>

#include "catch.h"
#include "model/save.h"
#include "preprocess/fusion.h"
#include "preprocess/passes.h"
#include "random_graph.h"
#include "run_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

constexpr std::uint32_t kSeeds = 60;
constexpr double kTolerance = 1e-5;

using Run = bool (*)(Model&);

std::vector<Run> all_passes() {
  return {inline_branches,
          [](Model& model) { return remove_no_ops(model); },
          merge_transposes,
          merge_slices,
          sink_squeezes,
          merge_reshapes,
          fold_reshape_targets,
          fold_affine,
          fold_affine_before,
          fold_pads,
          fold_gemm_factors,
          make_range_operands_scalar,
          cast_likes_to_casts,
          merge_initializers,
          fuse_hard_swish,
          [](Model& model) { return fuse_gelu(model, Operators::Contrib); },
          [](Model& model) { return fuse_silu(model, Operators::Contrib); },
          fuse_layer_normalization,
          fuse_space_to_depth};
}

}  // namespace

TEST_CASE("passes in any order keep what a graph computes and a sound graph", "[property]") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Model before = simplifiable_graph(seed);
    Model model = before.clone();
    normalize(model);
    std::vector<Run> passes = all_passes();
    std::mt19937 random(seed);
    for (std::size_t i = passes.size(); i > 1; --i) std::swap(passes[i - 1], passes[random() % i]);
    for (const Run pass : passes) {
      pass(model);
      REQUIRE_NOTHROW(check_model(model, "result"));
    }
    CHECK(difference(before, model, seed) <= kTolerance);
  }
}

TEST_CASE("preprocessing a preprocessed graph changes nothing", "[property]") {
  for (std::uint32_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Model model = simplifiable_graph(seed);
    const Model before = model.clone();
    preprocess(model, {});
    CHECK(difference(before, model, seed) <= kTolerance);
    const std::string once = model.proto().SerializeAsString();
    preprocess(model, {});
    CHECK(model.proto().SerializeAsString() == once);
  }
}
