#include "pipeline/compare.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "model/model.h"
#include "pipeline/verification.h"
#include "runtime/session.h"

namespace qtool {
namespace {

const std::filesystem::path& required(const std::optional<std::filesystem::path>& path,
                                      const char* key, const char* what) {
  if (!path) throw Error(ErrorKind::Usage, fmt::format("{}: is not set, expected {}", key, what));
  return *path;
}

}  // namespace

CompareReport run_compare(const Config& config, const RunContext& context) {
  const auto& reference = required(config.model.input, "model.input", "the reference model");
  const auto& other = required(config.model.output, "model.output", "the model to compare");
  const auto& data = required(config.verify.data, "verify.data", "a folder of samples");
  CompareReport report;
  const auto warn = [&](const std::string& text) {
    context.log.warn("{}", text);
    report.warnings.push_back(text);
  };
  const Model reference_model = load_model(reference), other_model = load_model(other);
  report.reference = model_file(reference_model);
  report.other = model_file(other_model);
  report.data = data;
  // Samples run side by side; a session that used several threads itself would only add to the
  // wait.
  const Session reference_session(reference_model, {}), other_session(other_model, {});
  Verification verification =
      verify_models({reference_session, printable(reference.string()), report.reference.bytes},
                    {other_session, printable(other.string()), report.other.bytes}, report.data,
                    config, warn, context.progress);
  report.size_ratio = verification.size_ratio;
  report.labels = std::move(verification.labels);
  report.comparison = std::move(verification.comparison);
  report.gates = std::move(verification.gates);
  return report;
}

}  // namespace qtool
