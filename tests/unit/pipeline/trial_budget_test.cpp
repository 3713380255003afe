#include "pipeline/trial_budget.h"

#include "catch.h"

using namespace qtool;

TEST_CASE("trial budget: a tenth of calibration, or as much as nobody notices", "[pipeline]") {
  CHECK(allowed_us({.float_us = 1e6, .sample_count = 100}) == Approx(10e6));
  CHECK(allowed_us({.float_us = 100, .sample_count = 100}) == Approx(250e3));
  CHECK(allowed_us({.sample_count = 100}) == Approx(250e3));
  CHECK(allowed_us({.float_us = 100, .sample_count = 100, .is_dry_run = true}) == Approx(1e6));
}

TEST_CASE("trial budget: up to a quarter of calibration where less does not do", "[pipeline]") {
  CHECK(allowed_us({.float_us = 1e6, .sample_count = 12}) == Approx(2.5e6));
  CHECK(allowed_us({.float_us = 1e6, .sample_count = 9}) == Approx(2.25e6));
}

TEST_CASE("trial budget: slow runs need many samples", "[pipeline]") {
  CHECK(is_affordable({.float_us = 1e6, .sample_count = 9}));
  CHECK_FALSE(is_affordable({.float_us = 1e6, .sample_count = 7}));
  CHECK(is_affordable({.float_us = 1e3, .sample_count = 10}));
  CHECK(is_affordable({.float_us = 120e3, .sample_count = 1}));
}

TEST_CASE("trial budget: a large model needs a long calibration", "[pipeline]") {
  CHECK_FALSE(is_affordable({.model_bytes = 500'000'000, .float_us = 10e3, .sample_count = 100}));
  CHECK(is_affordable({.model_bytes = 90'000'000, .float_us = 9e3, .sample_count = 16}));
  CHECK(is_affordable({.model_bytes = 500'000'000, .float_us = 10e3, .sample_count = 1000}));
  CHECK_FALSE(is_affordable({.node_count = 10000, .float_us = 10, .sample_count = 100}));
}

TEST_CASE("trial budget: runs of unknown time need a calibration that makes many more",
          "[pipeline]") {
  CHECK(is_affordable({.sample_count = 20}));
  CHECK_FALSE(is_affordable({.sample_count = 19}));
}
