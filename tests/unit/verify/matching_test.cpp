#include "verify/matching.h"

#include "catch.h"

namespace qtool {
namespace {

using Names = std::vector<std::string>;
using Matches = std::vector<std::optional<std::size_t>>;

TEST_CASE("matching: names count before positions", "[verify]") {
  CHECK(match_names(Names{"a", "b"}, Names{"b", "a"}) == Matches{1, 0});
}

TEST_CASE("matching: a renamed value is found at its position", "[verify]") {
  CHECK(match_names(Names{"a", "b"}, Names{"a_quantized", "b"}) == Matches{0, 1});
}

TEST_CASE("matching: a position that another name claims is not given away", "[verify]") {
  CHECK(match_names(Names{"a", "b"}, Names{"b"}) == Matches{std::nullopt, 0});
}

}  // namespace
}  // namespace qtool
