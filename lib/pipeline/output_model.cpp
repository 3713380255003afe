#include "pipeline/output_model.h"

#include <fmt/format.h>
#include <optional>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/parallel.h"
#include "base/text.h"
#include "runtime/session.h"
#include "runtime/try_load.h"

namespace qtool {

PendingModel write_model(const Model& model, const Config& config, const ValueMaker& make) {
  check_model(model, printable(config.model.output->string()));
  ExternalDataOptions options;
  options.mode = static_cast<ExternalDataOptions::Mode>(config.model.external_data);
  options.file_name = config.model.external_data_file;
  options.threshold_bytes = static_cast<std::uint64_t>(config.model.external_data_threshold);
  return PendingModel(model, *config.model.output, options, make);
}

std::string check_loading(const PendingModel& pending, const Config& config, std::string_view made,
                          const std::function<void(const std::string&)>& warn, Kernels kernels) {
  if (!config.load_check) return "skipped";
  const int threads = config.threads > 0 ? config.threads : available_cores();
  const LoadResult result = try_load(pending.path(), threads);
  if (result.loads) return "loads";
  const std::string output = printable(config.model.output->string());
  if (result.unknown_operator) {
    warn(fmt::format("{}: ONNX Runtime cannot load it: {}", output, result.message));
    return "checker only: " + result.message;
  }
  const LoadResult original = try_load(*config.model.input, threads);
  if (result.missing_kernel && (kernels == Kernels::MayBeMissing || original.missing_kernel)) {
    warn(fmt::format("{}: ONNX Runtime has no kernels for it on this machine: {}", output,
                     result.message));
    return "checker only: " + result.message;
  }
  if (!original.loads) {
    throw Error(ErrorKind::Input,
                fmt::format("{}: does not load in ONNX Runtime: {}",
                            printable(config.model.input->string()), original.message));
  }
  if (!config.preprocess.dims.empty() || !config.preprocess.override_shapes.empty()) {
    throw Error(ErrorKind::Input,
                fmt::format("{}: does not load in ONNX Runtime with the given sizes: {}",
                            printable(config.model.input->string()), result.message),
                "preprocess.dims and override_shapes have to fit every branch of the model");
  }
  throw Error(ErrorKind::Internal,
              fmt::format("{}: the {} model does not load in ONNX Runtime: {}", output, made,
                          result.message),
              "this is a defect in qtool; --no-load-check writes the model nevertheless");
}

void require_gate_data(const Config& config) {
  if (config.verify.has_gates() && !config.verify.data && !config.calibration.data) {
    throw Error(ErrorKind::Usage,
                "verify.data: is not set, expected a folder of samples for the gates");
  }
}

std::optional<std::filesystem::path> verification_data(const Config& config) {
  if (config.verify.data || !config.verify.has_gates()) return config.verify.data;
  return config.calibration.data;
}

std::optional<Verification> verify_output(const PendingModel& pending, std::uint64_t input_bytes,
                                          const Config& config,
                                          const std::function<void(const std::string&)>& warn,
                                          const Progress& progress) {
  const auto data = verification_data(config);
  if (!data) return std::nullopt;
  const Session before(*config.model.input, {}), after(pending.path(), {});
  return verify_models({before, printable(config.model.input->string()), input_bytes},
                       {after, printable(config.model.output->string()), pending.bytes()}, *data,
                       config, warn, progress);
}

void publish(PendingModel& pending, const Config& config, const std::string& manifest,
             const std::optional<std::string>& new_cache) {
  std::optional<AtomicFile> file, cache;
  const auto prepare = [](std::optional<AtomicFile>& out, const std::filesystem::path& path,
                          const std::string& content) {
    out.emplace(path);
    out->write(content);
    out->flush();
  };
  if (config.report.manifest)
    prepare(file, config.model.output->string() + ".manifest.json", manifest);
  if (new_cache) prepare(cache, *config.calibration.cache, *new_cache);
  throw_if_interrupted();
  pending.commit();
  if (file) file->commit();
  if (cache) cache->commit();
}

}  // namespace qtool
