#include "report/model_json.h"

namespace qtool {
namespace {

JsonValue pass_json(const PassReport& pass) {
  return JsonObject()
      .add("name", pass.name)
      .add("nodes_before", pass.nodes_before)
      .add("nodes_after", pass.nodes_after)
      .add("seconds", pass.seconds)
      .take();
}

}  // namespace

JsonValue model_json(const std::optional<std::filesystem::path>& path, const std::string& sha256,
                     std::uint64_t bytes, std::int64_t opset) {
  return JsonObject()
      .add("path", path)
      .add("sha256", sha256)
      .add("bytes", bytes)
      .add("opset", opset)
      .take();
}

JsonValue file_json(const FileDigest& file) {
  return JsonObject()
      .add("path", file.path)
      .add("sha256", file.sha256)
      .add("bytes", file.bytes)
      .take();
}

JsonValue range_json(const std::optional<Range>& range) {
  if (!range) return {};
  return JsonObject()
      .add("min", static_cast<double>(range->min))
      .add("max", static_cast<double>(range->max))
      .take();
}

JsonValue passes_json(const PreprocessReport& report) {
  return json_list(report.passes, pass_json);
}

}  // namespace qtool
