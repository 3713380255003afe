#pragma once

#include <cstdint>
#include <string>

namespace qtool {

/// By what and when an output was made.
struct Provenance {
  std::string qtool_version;
  std::string onnx_version;
  std::string onnxruntime_version;
  std::int64_t created = 0;  ///< seconds since 1970
};

/// Of this program and this moment; SOURCE_DATE_EPOCH in the environment takes the place of the
/// moment, so that a manifest can be byte-identical too. A `Usage` error where it is no number of
/// seconds.
Provenance current_provenance();

/// Whether SOURCE_DATE_EPOCH asks for a manifest that every run makes alike.
bool is_reproducible_run();

}  // namespace qtool
