#include "calibrate/worker_count.h"

#include "catch.h"

namespace qtool {
namespace {

constexpr std::uint64_t kMb = std::uint64_t{1} << 20;

}  // namespace

TEST_CASE("small samples run on all threads", "[calibrate]") {
  CHECK(worker_count(8, 0, 1024 * kMb) == 8);
  CHECK(worker_count(8, 4 * kMb, 1024 * kMb) == 8);
}

TEST_CASE("large samples run side by side as far as the extra memory is small", "[calibrate]") {
  CHECK(worker_count(8, 16 * kMb, 1024 * kMb) == 5);
  CHECK(worker_count(8, 16 * kMb, 64 * 256 * kMb) == 8);
  CHECK(worker_count(8, 2000 * kMb, 1024 * kMb) == 2);
}

TEST_CASE("one thread is one worker", "[calibrate]") {
  CHECK(worker_count(1, 0, 1024 * kMb) == 1);
  CHECK(worker_count(0, 0, 1024 * kMb) == 1);
}

TEST_CASE("this process holds some memory and less than it may", "[calibrate]") {
  CHECK(resident_bytes() > kMb);
  CHECK(memory_limit() > resident_bytes());
}

}  // namespace qtool
