#include "pipeline/compare.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "model/model.h"
#include "pipeline/verification.h"
#include "runtime/session.h"

namespace qtool {
CompareReport run_compare(const std::filesystem::path& reference,
                          const std::filesystem::path& other, const Config& config,
                          const RunContext& context) {
  if (!config.verify.data) {
    throw Error(ErrorKind::Usage, "verify.data: is not set, expected a folder of samples",
                "give it by --data DIR");
  }
  CompareReport report;
  const auto warn = [&](const std::string& text) {
    context.log.warn("{}", text);
    report.warnings.push_back(text);
  };
  const Model reference_model = load_model(reference), other_model = load_model(other);
  report.reference = model_file(reference_model);
  report.other = model_file(other_model);
  report.data = *config.verify.data;
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
