#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "config/config.h"
#include "model/model.h"
#include "samples/samples.h"

namespace qtool {

/// Opens a folder of samples for a model as section `calibration` says. `warn` is told what is
/// converted; it must outlive the folder.
std::unique_ptr<SampleFolder> open_sample_folder(
    const std::filesystem::path& path, const Config& config, const Model& model,
    const std::function<void(const std::string&)>& warn);

/// The same of `calibration.data`.
std::unique_ptr<SampleFolder> open_calibration_samples(
    const Config& config, const Model& model, const std::function<void(const std::string&)>& warn);

}  // namespace qtool
