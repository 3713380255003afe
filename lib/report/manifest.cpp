#include "report/manifest.h"

#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "report/json_object.h"
#include "report/static_json.h"

namespace qtool {
namespace {

constexpr int kManifestVersion = 1;

std::string utc_text(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

JsonValue made_by(const Provenance& provenance) {
  return JsonObject()
      .add("qtool", provenance.qtool_version)
      .add("onnx", provenance.onnx_version)
      .add("onnxruntime", provenance.onnxruntime_version)
      .take();
}

}  // namespace

std::string manifest_json(const StaticReport& report, const Config& config) {
  JsonObject object;
  object.add("manifest_version", kManifestVersion)
      .add("command", "static")
      .add("created", utc_text(report.provenance.created))
      .add("versions", made_by(report.provenance));
  add_static_members(object, report, config);
  return to_json_text(object.take());
}

}  // namespace qtool
