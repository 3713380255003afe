#include "pipeline/verification.h"

#include <fmt/format.h>
#include <memory>
#include <mutex>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "samples/samples.h"
#include "verify/compare.h"
#include "verify/gates.h"

namespace qtool {
namespace {

using Warn = std::function<void(const std::string&)>;

/// The labels to judge by. A file that the sample folder happens to hold may be meant for other
/// tools: it is read where it can be, and only an explicit one, or a gate that needs it, makes its
/// faults errors.
std::vector<std::int64_t> read_labels_for(const SampleFolder& samples, const VerifyConfig& config,
                                          std::optional<std::filesystem::path>& path,
                                          const Warn& warn) {
  if (!path) return {};
  try {
    return read_labels(*path, samples);
  } catch (const Error& error) {
    if (config.labels || config.max_top1_drop || error.kind() != ErrorKind::Input) throw;
    warn(std::string(error.what()) + "; compared without labels");
    path.reset();
    return {};
  }
}

void warn_of_gaps(const Comparison& comparison, const std::string& model_name, const Warn& warn) {
  for (const UncomparedOutput& output : comparison.uncompared) {
    warn(fmt::format("output '{}' is not compared: {}", printable(output.name), output.reason));
  }
  for (const TensorDistance& output : comparison.outputs) {
    if (output.skipped == 0) continue;
    warn(fmt::format(
        "{}: output '{}': shapes or types differ from the reference in {} of {} samples, "
        "not compared there",
        model_name, printable(output.name), output.skipped, comparison.sample_count));
  }
}

}  // namespace

Verification verify_models(const VerifiedModel& reference, const VerifiedModel& other,
                           const std::filesystem::path& data, const Config& config,
                           const Warn& warn, const Progress& progress) {
  std::mutex mutex;
  SampleOptions sample_options;
  sample_options.allow_nonfinite = config.calibration.allow_nonfinite;
  sample_options.read_expected_outputs = true;
  sample_options.warn = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    warn(text);
  };
  const auto samples = open_samples(data, reference.session.inputs(), sample_options);
  Verification out;
  out.labels = config.verify.labels ? config.verify.labels : find_labels(data);
  const auto labels = read_labels_for(*samples, config.verify, out.labels, warn);
  CompareOptions options{labels, config.threads > 0 ? config.threads : available_cores(), progress,
                         reference.name, other.name};
  out.comparison = compare_models(reference.session, other.session, *samples, options);
  warn_of_gaps(out.comparison, other.name, warn);
  if (out.labels && out.comparison.top1.row_count == 0) {
    warn(fmt::format("{}: is not used, the first output names no class",
                     printable(out.labels->string())));
  }
  out.size_ratio = static_cast<double>(other.bytes) / static_cast<double>(reference.bytes);
  out.gates = judge_gates(config.verify, out.comparison, out.size_ratio);
  return out;
}

}  // namespace qtool
