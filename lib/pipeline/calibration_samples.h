#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "config/config.h"
#include "model/model.h"
#include "samples/samples.h"

namespace qtool {

/// Refuses a stride that the number of samples is no multiple of: a `Usage` error that names both.
void check_stride(const CalibrationConfig& config, std::uint64_t sample_count);

/// Opens `calibration.data` for a model as section `calibration` says, its stride checked. `warn`
/// is told what is converted; it must outlive the folder.
std::unique_ptr<SampleFolder> open_calibration_samples(
    const Config& config, const Model& model, const std::function<void(const std::string&)>& warn);

}  // namespace qtool
