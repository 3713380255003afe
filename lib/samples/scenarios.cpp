#include "samples/scenarios.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/interrupt.h"
#include "samples/file_set.h"
#include "samples/folder_entries.h"
#include "samples/layout.h"

namespace qtool {
namespace {

void require_samples(const std::string& folder, std::span<const TensorInfo> inputs) {
  list_samples(folder, inputs, /*with_outputs=*/false, /*max_samples=*/std::nullopt);
}

/// Whether `check` finds nothing to say against the content of a folder.
template <typename Check>
bool holds(const Check& check) {
  try {
    check();
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Input) throw;
    return false;
  }
}

/// Whether `folder` is one sample: a file for each input, under its name.
bool is_sample(const std::string& folder, std::span<const TensorInfo> inputs) {
  throw_if_interrupted();
  std::vector<std::string> names;
  for (const FolderEntry& entry : list_folder(folder).value_or(std::vector<FolderEntry>{})) {
    if (is_value_file(entry.name)) names.push_back(entry.name);
  }
  return !names.empty() &&
         holds([&] { resolve_files(names, inputs, /*with_outputs=*/false, folder); });
}

bool is_folder(const std::string& path, const FolderEntry& entry) {
  if (entry.kind == FolderEntry::Kind::Folder) return true;
  std::error_code ignored;
  return entry.kind == FolderEntry::Kind::Link && std::filesystem::is_directory(path, ignored);
}

}  // namespace

std::vector<std::filesystem::path> find_scenarios(const std::filesystem::path& data,
                                                  std::span<const TensorInfo> inputs) {
  std::vector<std::filesystem::path> out;
  for (const FolderEntry& entry : list_folder(data.string()).value_or(std::vector<FolderEntry>{})) {
    const std::string path = join_path(data.string(), entry.name);
    // One sample among them tells that the others are meant to be samples too: what is wrong with
    // them is for who reads samples to say.
    if (!is_folder(path, entry) || is_sample(path, inputs)) return {data};
    out.emplace_back(path);
  }
  if (out.empty() || !holds([&] { require_samples(out.front().string(), inputs); })) return {data};
  return out;
}

}  // namespace qtool
