#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "model/save.h"
#include "pipeline/relocate.h"
#include "pipeline/verification.h"
#include "report/manifest.h"

namespace qtool {

// How every command that makes a model brings it to its place.

/// Asks the ONNX checker, then writes the model beside `model.output`. `make` gives the values that
/// are made only then.
PendingModel write_model(const Model& model, const Config& config, const ValueMaker& make = {});

/// What ONNX Runtime is expected to have for a written model.
enum class Kernels {
  AsForSource,   ///< whatever it has for the source model
  MayBeMissing,  ///< the model is for other runtimes too
};

/// Loads what was written as a user would: gives `loads`, `skipped`, or why only the checker was
/// asked. Where ONNX Runtime refuses it that is an `Input` error if it refuses the input model too,
/// else a defect; `made` says what qtool made of it, for example `quantized`.
std::string check_loading(const PendingModel& pending, const Config& config, std::string_view made,
                          const std::function<void(const std::string&)>& warn,
                          Kernels kernels = Kernels::AsForSource);

/// Refuses gates without samples to hold them against: a `Usage` error.
void require_gate_data(const Config& config);

/// The samples of a verification: where the config has verification data or gates, the former, else
/// the calibration data.
std::optional<std::filesystem::path> verification_data(const Config& config);

/// Runs the input model and what was written side by side where there is `verification_data`.
std::optional<Verification> verify_output(const PendingModel& pending, std::uint64_t input_bytes,
                                          const Config& config,
                                          const std::function<void(const std::string&)>& warn,
                                          const Progress& progress);

/// The text of a report's manifest. It stands beside the output, so its relative paths start there.
template <typename Report>
std::string manifest_beside_output(Report report) {
  report.config = relative_to(report.config, report.config.model.output->parent_path());
  return manifest_json(report);
}

/// Lets the model appear, its manifest where the config wants one, and a new `calibration.cache`
/// where there is one.
void publish(PendingModel& pending, const Config& config, const std::string& manifest,
             const std::optional<std::string>& new_cache = std::nullopt);

}  // namespace qtool
