#include "pipeline/compare.h"

#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "model/model.h"
#include "runtime/session.h"
#include "samples/samples.h"
#include "verify/compare.h"

namespace qtool {
namespace {

/// Bytes of a model's file and of every file that its tensors lie in.
std::uint64_t bytes_on_disk(const Model& model) {
  std::map<std::filesystem::path, std::uint64_t> files;
  const auto add = [&](const std::filesystem::path& path) {
    std::error_code ignored;
    const auto bytes = std::filesystem::file_size(path, ignored);
    if (!ignored) files[std::filesystem::weakly_canonical(path, ignored)] = bytes;
  };
  add(model.path());
  for (const Model::DataFile& each : model.data_files()) add(each.file->path());
  std::uint64_t sum = 0;
  for (const auto& [path, bytes] : files) sum += bytes;
  return sum;
}

/// Says something to the user, now and in the report. Samples may do so from several threads.
class Warner {
 public:
  Warner(spdlog::logger& log, CompareReport& report) : log_(log), report_(report) {}
  void operator()(const std::string& text) {
    const std::lock_guard lock(mutex_);
    log_.warn("{}", text);
    report_.warnings.push_back(text);
  }

 private:
  spdlog::logger& log_;
  CompareReport& report_;
  std::mutex mutex_;
};

/// The labels to judge by. A file that the sample folder happens to hold may be meant for other
/// tools: it is read where it can be, and only an explicit one, or a gate that needs it, makes its
/// faults errors.
std::vector<std::int64_t> labels_for(const SampleFolder& samples, const VerifyConfig& config,
                                     CompareReport& report, Warner& warn) {
  report.labels = config.labels ? config.labels : find_labels(report.data);
  if (!report.labels) return {};
  try {
    return read_labels(*report.labels, samples);
  } catch (const Error& error) {
    if (config.labels || config.max_top1_drop || error.kind() != ErrorKind::Input) throw;
    warn(std::string(error.what()) + "; compared without labels");
    report.labels.reset();
    return {};
  }
}

std::unique_ptr<SampleFolder> open_data(const Session& reference, const Config& config,
                                        Warner& warn) {
  SampleOptions options;
  options.allow_nonfinite = config.calibration.allow_nonfinite;
  options.read_expected_outputs = true;
  options.warn = [&warn](const std::string& text) { warn(text); };
  return open_samples(*config.verify.data, reference.inputs(), options);
}

void warn_of_gaps(const CompareReport& report, Warner& warn) {
  const auto& comparison = report.comparison;
  for (const std::string& name : comparison.unmatched) {
    warn(fmt::format("{}: has no output '{}', not compared", printable(report.other.path.string()),
                     printable(name)));
  }
  for (const TensorDistance& output : comparison.outputs) {
    if (output.skipped == 0) continue;
    warn(fmt::format("output '{}': shapes or types differ in {} of {} samples, not compared there",
                     printable(output.name), output.skipped, comparison.sample_count));
  }
}

}  // namespace

CompareReport run_compare(const std::filesystem::path& reference,
                          const std::filesystem::path& other, const Config& config,
                          const RunContext& context) {
  if (!config.verify.data) {
    throw Error(ErrorKind::Usage, "verify.data: is not set, expected a folder of samples",
                "give it by --data DIR");
  }
  CompareReport report;
  Warner warn(context.log, report);
  report.data = *config.verify.data;
  const Model reference_model = load_model(reference), other_model = load_model(other);
  report.reference = {reference, bytes_on_disk(reference_model)};
  report.other = {other, bytes_on_disk(other_model)};
  report.size_ratio =
      static_cast<double>(report.other.bytes) / static_cast<double>(report.reference.bytes);

  // Samples run side by side; a session that used several threads itself would only add to the
  // wait.
  const Session reference_session(reference_model, {}), other_session(other_model, {});
  const auto samples = open_data(reference_session, config, warn);
  const auto labels = labels_for(*samples, config.verify, report, warn);
  CompareOptions options;
  options.labels = labels;
  options.threads = config.threads > 0 ? config.threads : available_cores();
  options.progress = context.progress;
  options.reference_name = printable(reference.string());
  options.other_name = printable(other.string());
  report.comparison = compare_models(reference_session, other_session, *samples, options);
  warn_of_gaps(report, warn);
  report.gates = judge_gates(config.verify, report.comparison, report.size_ratio);
  return report;
}

}  // namespace qtool
