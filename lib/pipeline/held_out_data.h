#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "model/model.h"
#include "pipeline/coverage_report.h"
#include "samples/samples.h"

namespace qtool {

/// Folders of samples that calibration did not see, each a scenario; their samples are numbered
/// through.
class HeldOutData {
 public:
  struct Scenario {
    std::filesystem::path path;
    std::unique_ptr<SampleFolder> folder;
    std::size_t first = 0;  ///< number of its first sample
  };

  /// Opens the scenarios of the folders `data` for a model. `Usage` error for one that is there
  /// twice. `warn` is told what is converted; it must outlive this.
  void open(const std::vector<std::filesystem::path>& data, const Config& config,
            const Model& model, const std::function<void(const std::string&)>& warn);

  const std::vector<Scenario>& scenarios() const { return scenarios_; }
  std::size_t sample_count() const { return sample_count_; }
  /// Names sample and scenario of a value that the sample of this number has.
  SampledValue sampled(float value, std::size_t number) const;

 private:
  void add(const std::filesystem::path& path, const Config& config, const Model& model,
           const std::function<void(const std::string&)>& warn);

  std::vector<Scenario> scenarios_;
  std::size_t sample_count_ = 0;
};

}  // namespace qtool
