#include "pipeline/provenance.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "model/onnx_version.h"
#include "runtime/session.h"

namespace qtool {
namespace {

/// The end of the year 9999, the last that ISO 8601 writes with four digits.
constexpr std::int64_t kLatest = 253402300799;

/// Empty where it is not set.
std::string_view source_date_epoch() {
  const char* epoch = std::getenv("SOURCE_DATE_EPOCH");
  return epoch == nullptr ? "" : epoch;
}

std::int64_t creation_time() {
  const std::string_view text = source_date_epoch();
  if (text.empty()) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(now).count();
  }
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0 ||
      seconds > kLatest) {
    throw Error(ErrorKind::Usage, "SOURCE_DATE_EPOCH: '" + printable(text, 100) +
                                      "', expected whole seconds since 1970");
  }
  return seconds;
}

}  // namespace

Provenance current_provenance() {
  return {QTOOL_VERSION, onnx_version(), onnxruntime_version(), creation_time()};
}

bool is_reproducible_run() { return !source_date_epoch().empty(); }

}  // namespace qtool
