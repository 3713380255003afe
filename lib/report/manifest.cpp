#include "report/manifest.h"

#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "report/calibrate.h"
#include "report/dynamic.h"
#include "report/float16.h"
#include "report/json_object.h"
#include "report/preprocess.h"
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

/// What every manifest begins with.
JsonObject manifest_of(const char* command, const Provenance& provenance) {
  JsonObject object;
  object.add("manifest_version", kManifestVersion)
      .add("command", command)
      .add("created", utc_text(provenance.created))
      .add("versions", made_by(provenance));
  return object;
}

}  // namespace

std::string manifest_json(const StaticReport& report) {
  JsonObject object = manifest_of("static", report.provenance);
  add_static_members(object, report);
  return to_json_text(object.take());
}

std::string manifest_json(const DynamicReport& report) {
  JsonObject object = manifest_of("dynamic", report.provenance);
  add_dynamic_members(object, report);
  return to_json_text(object.take());
}

std::string manifest_json(const Float16Report& report) {
  JsonObject object = manifest_of("float16", report.provenance);
  add_float16_members(object, report);
  return to_json_text(object.take());
}

std::string manifest_json(const PreprocessResult& result) {
  JsonObject object = manifest_of("preprocess", result.provenance);
  add_preprocess_members(object, result);
  return to_json_text(object.take());
}

std::string manifest_json(const CalibrateReport& report) {
  JsonObject object = manifest_of("calibrate", report.provenance);
  add_calibrate_members(object, report);
  return to_json_text(object.take());
}

}  // namespace qtool
