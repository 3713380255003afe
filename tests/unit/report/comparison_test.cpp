#include "report/comparison.h"

#include "catch.h"

namespace qtool {
namespace {

const Gate kMet{"min_sqnr_db", 10, 24.8, true, {}};
const Gate kCosine{"min_cosine", 0.99, 0.91, false, {}};
const Gate kTop1{"max_top1_drop", 0.01, 0, false, "the first output names no class"};

TEST_CASE("unmet gates: one line names each with value and limit", "[report]") {
  CHECK(unmet_gates_text(std::vector{kMet, kCosine}) ==
        "gate not met: min_cosine 0.91, expected at least 0.99");
  CHECK(unmet_gates_text(std::vector{kCosine, kMet, kTop1}) ==
        "gates not met: min_cosine 0.91, expected at least 0.99; "
        "max_top1_drop not judged: the first output names no class, expected at most 0.01");
}

TEST_CASE("unmet gates: nothing to say where all are met", "[report]") {
  CHECK(unmet_gates_text(std::vector{kMet}).empty());
  CHECK(unmet_gates_text({}).empty());
}

}  // namespace
}  // namespace qtool
