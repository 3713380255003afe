#include "pipeline/calibrate.h"

#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "commands/commands.h"
#include "gates.h"
#include "report/calibrate.h"
#include "report/coverage.h"

namespace qtool::cli {
namespace {

constexpr std::string_view kShard = "--shard";
constexpr std::string_view kResume = "--resume";
constexpr std::string_view kMerge = "--merge";
constexpr std::string_view kExport = "--export";
constexpr std::string_view kCoverage = "--coverage";
constexpr std::string_view kChannels = "--per-channel-statistics";
constexpr std::string_view kMoments = "--second-moments";
constexpr std::string_view kProviders = "--providers";

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t out = 0;
  const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  if (fault != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  return out;
}

/// `1/4`: the second of four shards.
Shard read_shard(const std::string& word) {
  const std::size_t slash = std::min(word.find('/'), word.size());
  const auto index = number(std::string_view(word).substr(0, slash));
  const auto count = number(std::string_view(word).substr(std::min(slash + 1, word.size())));
  if (!index || !count || *index >= *count) {
    throw Error(ErrorKind::Usage,
                fmt::format("--shard: found '{}', expected I/N with I from 0 to N - 1",
                            printable(word, 100)));
  }
  return {*index, *count};
}

ExportFormat read_format(const std::string& word) {
  if (word == "json") return ExportFormat::Json;
  if (word == "onnxruntime") return ExportFormat::OnnxRuntime;
  if (word == "tensorrt") return ExportFormat::TensorRt;
  throw Error(ErrorKind::Usage,
              fmt::format("--export: unknown format '{}', expected json, onnxruntime or tensorrt",
                          printable(word, 100)));
}

MomentsKind read_moments(const std::string& word) {
  for (const MomentsKind kind : {MomentsKind::Diagonal, MomentsKind::Full}) {
    if (word == moments_name(kind)) return kind;
  }
  throw Error(ErrorKind::Usage,
              fmt::format("--second-moments: unknown kind '{}', expected diagonal or full",
                          printable(word, 100)));
}

void refuse_together(const Run& run, std::string_view form,
                     std::initializer_list<std::string_view> others) {
  for (const std::string_view other : others) {
    if (run.has(other))
      throw Error(ErrorKind::Usage, fmt::format("{}: does not go together with {}", other, form));
  }
}

/// A config for `static` names a model there, which a table must not take the place of.
void refuse_model_output(const Config& config) {
  if (to_lower(config.model.output->extension().string()) != ".onnx") return;
  throw Error(ErrorKind::Usage,
              fmt::format("model.output: found '{}', expected a file for the calibration table",
                          printable(config.model.output->string())),
              "-o FILE.qcal names it on the command line");
}

CalibrateReport run_form(const Run& run) {
  if (run.has(kMerge)) {
    refuse_together(run, kMerge, {kExport, kShard, kResume, kChannels, kMoments, kProviders});
    const auto& words = run.own.find(kMerge)->second;
    return run_merge(run.config, {words.begin(), words.end()}, run.context);
  }
  if (run.has(kExport)) {
    refuse_together(run, kExport, {kShard, kResume, kChannels, kMoments, kProviders});
    return run_export(run.config, read_format(run.own.find(kExport)->second.front()), run.context);
  }
  RecordOptions options;
  options.resume = run.has(kResume);
  if (run.has(kShard)) options.shard = read_shard(run.own.find(kShard)->second.front());
  options.channels.maxima = run.has(kChannels);
  if (run.has(kMoments))
    options.channels.moments = read_moments(run.own.find(kMoments)->second.front());
  if (run.has(kProviders)) options.providers = run.own.find(kProviders)->second;
  return run_record(run.config, options, run.context);
}

int run_coverage_form(const Run& run) {
  refuse_together(run, kCoverage,
                  {kMerge, kExport, kShard, kResume, kChannels, kMoments, kProviders});
  const auto& words = run.own.find(kCoverage)->second;
  const CoverageReport report = run_coverage(run.config, {words.begin(), words.end()}, run.context);
  deliver(run, report);
  return exit_code_of(run, report.gates);
}

int run_calibrate_command(const Run& run) {
  if (run.has(kCoverage)) return run_coverage_form(run);
  refuse_model_output(run.config);
  deliver(run, run_form(run));
  return 0;
}

}  // namespace

Command calibrate_command() {
  return {
      .name = "calibrate",
      .summary = "Record what every tensor holds on calibration data, in a table for later runs",
      .example =
          "qtool calibrate -i model.onnx --calib-data calib -o model.qcal\n"
          "  qtool calibrate --merge part0.qcal part1.qcal -o model.qcal\n"
          "  qtool calibrate --export json model.qcal -o ranges.json\n"
          "  qtool calibrate --coverage night rain -i model.onnx --calib-table model.qcal",
      .writes_model = true,
      .positionals = {{"IN", "model.input", "The model, or with --export the table, to read."},
                      {"OUT", "model.output", "The file to write."}},
      .requirements = {{"model.input", "input model", "-i FILE", {kMerge}},
                       {"model.output", "output file", "-o FILE", {kCoverage}},
                       {"calibration.data",
                        "calibration data",
                        "--calib-data DIR",
                        {kMerge, kExport, kCoverage}}},
      .key_options = {{"--preset", "preset", "NAME"},
                      {"--calib-data", "calibration.data", "DIR"},
                      {"--calib-cache", "calibration.cache", "FILE"},
                      {"--max-samples", "calibration.max_samples", "N"},
                      {"--calibrate-method", "calibration.method", "METHOD"},
                      {"--allow-nonfinite", "calibration.allow_nonfinite"},
                      {"--activation-type", "quantization.activation_type", "TYPE"},
                      {"--op-types-to-quantize", "quantization.op_types_to_quantize"},
                      {"--calib-table", "calibration.table", "FILE", kCoverage},
                      {"--max-clipped", "calibration.max_clipped", "X", kCoverage},
                      {"--min-range-used", "calibration.min_range_used", "X", kCoverage}},
      .own_options = {{kShard, "I/N", "Run one of N parts of the samples only; I from 0 to N - 1."},
                      {kResume, "", "Go on from the table that the output is already."},
                      {kMerge, "TABLE...", "Join tables of parts of the samples to one.", true},
                      {kExport, "FORMAT",
                       "Write a table as json, onnxruntime or tensorrt, with ranges by the "
                       "configured method."},
                      {kChannels, "",
                       "Record largest magnitude and mean of each channel that a Conv, Gemm or "
                       "MatMul reads."},
                      {kMoments, "KIND",
                       "Record their second moments: diagonal, or full with all products."},
                      {kProviders, "NAME...",
                       "Run the model on these execution providers of ONNX Runtime, as far as it "
                       "has them.",
                       true},
                      {.flag = kCoverage,
                       .value_name = "DIR...",
                       .help = "Tell how the ranges of a table fit held-out samples, by folder.",
                       .is_list = true,
                       .writes_nothing = true}},
      .run = run_calibrate_command};
}

}  // namespace qtool::cli
