#include "pipeline/calibration_samples.h"

#include <fmt/format.h>
#include <span>

#include "base/error.h"
#include "model/messages.h"

namespace qtool {
namespace {

enum class Rows { Free, JustEnough, Fixed };

/// What an input's first axis makes of batches of `size`.
Rows rows_of(const TensorInfo& input, std::int64_t size) {
  if (!input.has_shape) return Rows::Free;
  if (input.shape.empty()) return Rows::Fixed;
  if (input.shape.front() < 0) return Rows::Free;
  return input.shape.front() == size ? Rows::JustEnough : Rows::Fixed;
}

/// Of the first input, which the others are to agree with.
Rows batch_rows(std::span<const TensorInfo> inputs, std::int64_t size) {
  return inputs.empty() ? Rows::Fixed : rows_of(inputs.front(), size);
}

std::unique_ptr<SampleFolder> open_folder(const std::filesystem::path& path, const Config& config,
                                          std::span<const TensorInfo> inputs,
                                          const std::function<void(const std::string&)>& warn) {
  SampleOptions options;
  options.max_samples = config.calibration.max_samples;
  options.allow_nonfinite = config.calibration.allow_nonfinite;
  options.warn = warn;
  return open_samples(path, inputs, options);
}

}  // namespace

Batch calibration_batch(const Config& config, const Model& model,
                        const std::function<void(const std::string&)>& warn) {
  const std::int64_t size = config.calibration.batch.value_or(1);
  if (size == 1) return {};
  const auto inputs = required_inputs(model.graph());
  const Rows rows = batch_rows(inputs, size);
  for (const TensorInfo& input : inputs) {
    if (rows != Rows::Fixed && rows_of(input, size) == rows) continue;
    warn(
        fmt::format("calibration.batch: input {} is {}, expected a first axis that is free or {} "
                    "in all inputs: "
                    "samples run one by one",
                    in_quotes(input.name), describe(input), size));
    return {};
  }
  return {.size = size, .is_exact = rows == Rows::JustEnough};
}

void check_stride(const CalibrationConfig& config, std::uint64_t sample_count) {
  if (!config.stride || sample_count % static_cast<std::uint64_t>(*config.stride) == 0) return;
  throw Error(
      ErrorKind::Usage,
      fmt::format("calibration.stride: {} does not divide the {} samples, expected a divisor",
                  *config.stride, sample_count));
}

std::unique_ptr<SampleFolder> open_sample_folder(
    const std::filesystem::path& path, const Config& config, const Model& model,
    const std::function<void(const std::string&)>& warn) {
  return open_folder(path, config, required_inputs(model.graph()), warn);
}

std::unique_ptr<SampleFolder> open_calibration_samples(
    const Config& config, const Model& model, const std::function<void(const std::string&)>& warn) {
  auto inputs = required_inputs(model.graph());
  const auto ignore = [](const std::string&) {};
  if (calibration_batch(config, model, ignore).is_exact) {
    for (TensorInfo& input : inputs) input.shape.front() = -1;
  }
  auto folder = open_folder(*config.calibration.data, config, inputs, warn);
  check_stride(config.calibration, folder->size());
  return folder;
}

}  // namespace qtool
