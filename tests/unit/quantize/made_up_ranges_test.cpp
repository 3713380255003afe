#include "quantize/made_up_ranges.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "preprocess/preprocess.h"
#include "quantize/planner.h"
#include "text_model.h"

using namespace qtool;
using namespace qtool::testing;

namespace {

struct Plans {
  QuantPlan draft, made_up;
};

/// Of a graph that reads `w`, the weight of a Conv of 8 channels.
Plans plans_of(const std::string& constants, const std::string& nodes) {
  std::string weight = "1";
  for (int i = 1; i < 64; ++i) weight += ", " + std::to_string(1 + i % 3);
  const std::string text = "agraph (float[1,8,4,4] x) => (float[1,8,4,4] y) <float[8,8,1,1] w = {" +
                           weight + "}, " + constants + "> { " + nodes + " }";
  const Config config;
  const Planner planner(config.quantization, Preset::Cpu);
  Model model = text_model(text);
  std::vector<std::string> notes;
  infer_shapes(model, notes);
  const auto ranges = made_up_ranges(model, planner.measurements(model).tensors);
  return {planner.draft(model), planner.plan(model, ranges, {})};
}

TensorRanges ranges_of(const char* text, const std::vector<std::string>& tensors) {
  return made_up_ranges(text_model(text), tensors);
}

std::vector<int> folded_nodes(const QuantPlan& plan) {
  std::vector<int> out;
  for (const FoldedNode& folded : plan.folded) out.push_back(folded.node);
  return out;
}

}  // namespace

TEST_CASE("made-up ranges: a Relu and Clips go as they may", "[quantize]") {
  const auto [draft, made_up] = plans_of(
      "float zero = {0}, float six = {6}, float low = {-2}, float high = {-1}",
      "a = Conv (x, w) b = Relu (a) c = Conv (b, w) d = Clip (c, zero, six) "
      "e = Conv (d, w) f = Clip (e, low, high) g = Conv (f, w) h = Clip (g, low) y = Conv (h, w)");
  CHECK(folded_nodes(made_up) == std::vector<int>{1, 3, 7});
  CHECK(made_up.quantized_nodes == draft.quantized_nodes);
}

TEST_CASE("made-up ranges: an offset behind a tensor goes into its readers", "[quantize]") {
  const auto [draft, made_up] = plans_of("float half = {0.5}, float far = {1000}",
                                         "a = Conv (x, w) b = Mul (a, half) c = Add (b, far) "
                                         "y = Conv (c, w)");
  CHECK(made_up.absorbed == std::vector<int>{1, 2});
  CHECK(made_up.absorbed == draft.absorbed);
}

TEST_CASE("made-up ranges: no two are alike", "[quantize]") {
  const auto ranges =
      ranges_of("agraph (float[2] x) => (float[2] y) { a = Exp (x) y = Exp (a) }", {"x", "a", "y"});
  std::set<float> widths;
  for (const auto& [name, range] : ranges) widths.insert(range.max - range.min);
  CHECK(widths.size() == 3);
}

TEST_CASE("made-up ranges: of bodies too, and whatever bounds a Clip has", "[quantize]") {
  const auto ranges = ranges_of(R"(agraph (bool c, float[2] x) => (float[2] y)
    <float one = {1}, float big = {3e38}> {
      a = Clip (x, one, big)
      b = Clip (x, big, one)
      y = If (c) <
        then_branch = t () => (float[2] p) { p = Relu (a) },
        else_branch = e () => (float[2] q) { q = Exp (b) }
      >
    })",
                                {"a", "b", "p", "q"});
  CHECK(ranges.at("p").min == 0);
  CHECK(ranges.at("q").min == -1);
  CHECK(ranges.at("a").min == 1);
  CHECK(ranges.at("b").min == -1);
}
