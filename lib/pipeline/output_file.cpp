#include "pipeline/output_file.h"

#include <optional>

#include "base/file.h"
#include "base/sha256.h"

namespace qtool {

FileDigest digest_of(const std::filesystem::path& path, std::string_view content) {
  Sha256 hash;
  hash.update(content);
  return {path, hash.hex_digest(), content.size()};
}

void publish_file(const Config& config, std::string_view content, const std::string& manifest) {
  AtomicFile file(*config.model.output);
  file.write(content);
  file.flush();
  std::optional<AtomicFile> beside;
  if (config.report.manifest) {
    beside.emplace(config.model.output->string() + ".manifest.json");
    beside->write(manifest);
    beside->flush();
  }
  file.commit();
  if (beside) beside->commit();
}

}  // namespace qtool
