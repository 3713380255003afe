#include "pipeline/publish_table.h"

#include "pipeline/relocate.h"
#include "report/manifest.h"

namespace qtool {

void publish_table(CalibrateReport& report, std::string_view content) {
  const Config& config = report.config;
  if (config.dry_run) return;
  report.output = digest_of(*config.model.output, content);
  CalibrateReport beside = report;
  const auto folder = config.model.output->parent_path();
  beside.config = relative_to(config, folder);
  for (FileDigest& input : beside.inputs) input.path = relative_to(input.path, folder);
  beside.output.path = relative_to(beside.output.path, folder);
  publish_file(config, content, manifest_json(beside));
}

}  // namespace qtool
