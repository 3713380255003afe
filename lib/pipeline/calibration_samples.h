#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "calibrate/sample_batch.h"
#include "config/config.h"
#include "model/model.h"
#include "samples/samples.h"

namespace qtool {

/// How samples are joined to runs: as `calibration.batch` says where every input has a free first
/// axis, or just so many rows; one by one, with a warning, otherwise.
Batch calibration_batch(const Config& config, const Model& model,
                        const std::function<void(const std::string&)>& warn);

/// Refuses a stride that the number of samples is no multiple of: a `Usage` error that names both.
void check_stride(const CalibrationConfig& config, std::uint64_t sample_count);

/// Opens a folder of samples for a model as section `calibration` says. `warn` is told what is
/// converted; it must outlive the folder.
std::unique_ptr<SampleFolder> open_sample_folder(
    const std::filesystem::path& path, const Config& config, const Model& model,
    const std::function<void(const std::string&)>& warn);

/// Opens `calibration.data` so, its stride checked; where the model takes just `calibration.batch`
/// rows, samples may have less.
std::unique_ptr<SampleFolder> open_calibration_samples(
    const Config& config, const Model& model, const std::function<void(const std::string&)>& warn);

}  // namespace qtool
