#include "pipeline/provenance.h"

#include <algorithm>
#include <chrono>
#include <stdlib.h>
#include <string>

#include "base/error.h"
#include "catch.h"

namespace qtool {
namespace {

/// Sets SOURCE_DATE_EPOCH for one test and brings back what was there.
class EpochGuard {
 public:
  explicit EpochGuard(const char* value) {
    if (const char* before = ::getenv("SOURCE_DATE_EPOCH")) before_ = before, was_set_ = true;
    if (value != nullptr) {
      ::setenv("SOURCE_DATE_EPOCH", value, 1);
    } else {
      ::unsetenv("SOURCE_DATE_EPOCH");
    }
  }
  EpochGuard(const EpochGuard&) = delete;
  EpochGuard& operator=(const EpochGuard&) = delete;
  ~EpochGuard() {
    if (was_set_) {
      ::setenv("SOURCE_DATE_EPOCH", before_.c_str(), 1);
    } else {
      ::unsetenv("SOURCE_DATE_EPOCH");
    }
  }

 private:
  std::string before_;
  bool was_set_ = false;
};

TEST_CASE("provenance: SOURCE_DATE_EPOCH takes the place of the clock", "[pipeline]") {
  const EpochGuard guard("1700000000");
  CHECK(current_provenance().created == 1700000000);
  CHECK(is_reproducible_run());
}

TEST_CASE("provenance: without it the clock counts", "[pipeline]") {
  const EpochGuard guard(nullptr);
  CHECK_FALSE(is_reproducible_run());
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  CHECK(current_provenance().created >= seconds);
  CHECK(current_provenance().created < seconds + 60);
}

TEST_CASE("provenance: a SOURCE_DATE_EPOCH that is no time is refused", "[pipeline]") {
  for (const char* value : {"yesterday", "12x", "-1", "1e9", "99999999999999999999"}) {
    const EpochGuard guard(value);
    try {
      current_provenance();
      FAIL("accepted " << value);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::Usage);
      CHECK(std::string(error.what()) ==
            "SOURCE_DATE_EPOCH: '" + std::string(value) + "', expected whole seconds since 1970");
    }
  }
}

TEST_CASE("provenance: names the versions of the program and its libraries", "[pipeline]") {
  const Provenance provenance = current_provenance();
  for (const std::string& version :
       {provenance.qtool_version, provenance.onnx_version, provenance.onnxruntime_version}) {
    CHECK(std::count(version.begin(), version.end(), '.') == 2);
  }
}

}  // namespace
}  // namespace qtool
