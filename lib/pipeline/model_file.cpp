#include "pipeline/model_file.h"

#include <map>
#include <system_error>

#include "model/model.h"

namespace qtool {

ModelFile model_file(const Model& model) {
  // By canonical name, because tensors may lie in the model file itself, or in one file under two
  // names.
  std::map<std::filesystem::path, std::uint64_t> files;
  const auto add = [&](const std::filesystem::path& path) {
    std::error_code ignored;
    const std::uint64_t bytes = std::filesystem::file_size(path, ignored);
    if (!ignored) files[std::filesystem::weakly_canonical(path, ignored)] = bytes;
  };
  add(model.path());
  for (const Model::DataFile& each : model.data_files()) add(each.file->path());
  ModelFile out{model.path(), 0};
  for (const auto& [path, bytes] : files) out.bytes += bytes;
  return out;
}

}  // namespace qtool
