#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "config/config.h"
#include "runtime/session.h"
#include "verify/comparison.h"

namespace qtool {

/// A loaded model, the name that messages give it, and its size on disk.
struct VerifiedModel {
  const Session& session;
  std::string name;
  std::uint64_t bytes = 0;
};

/// Two models compared and judged.
struct Verification {
  Comparison comparison;
  std::vector<Gate> gates;
  double size_ratio = 1;                        ///< other / reference
  std::optional<std::filesystem::path> labels;  ///< that were used
};

/// Compares two models on the samples of `data` and judges the gates of `config.verify`: for
/// `compare`, and for every command that proves its output. Labels are those of the config, else
/// those that the folder brings along, as far as they are classes. `warn` is told what was left
/// out; from one thread at a time.
Verification verify_models(const VerifiedModel& reference, const VerifiedModel& other,
                           const std::filesystem::path& data, const Config& config,
                           const std::function<void(const std::string&)>& warn,
                           const Progress& progress);

}  // namespace qtool
