#include "samples/layout.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "samples/folder_entries.h"

namespace qtool {
namespace {

/// What the top of a sample folder holds, by what it could be.
struct Candidates {
  std::vector<FolderEntry> npys, npzs, protos;
  std::vector<FolderEntry> folders;  ///< links too: what they lead to shows later
};

Candidates sort_out(std::vector<FolderEntry> entries, const std::string& folder) {
  Candidates out;
  for (FolderEntry& entry : entries) {
    const std::string_view ending = extension(entry.name);
    std::vector<FolderEntry>* const files = ending == ".npy"   ? &out.npys
                                            : ending == ".npz" ? &out.npzs
                                            : ending == ".pb"  ? &out.protos
                                                               : nullptr;
    if (files != nullptr) {
      require_file(entry, folder);
      files->push_back(std::move(entry));
    } else if (entry.kind == FolderEntry::Kind::Folder || entry.kind == FolderEntry::Kind::Link) {
      out.folders.push_back(std::move(entry));
    }
  }
  return out;
}

[[noreturn]] void refuse_mixed(const std::string& folder, const std::string& one,
                               const std::string& other) {
  throw Error(ErrorKind::Input, folder + ": holds samples in two layouts, " + one + " and " +
                                    other + ", expected one");
}

/// The first folder with values in it, or nothing.
std::optional<std::string> find_sample_folder(const Candidates& candidates,
                                              const std::string& folder) {
  for (const FolderEntry& entry : candidates.folders) {
    try {
      const auto inside = list_folder(join_path(folder, entry.name));
      if (inside && std::ranges::any_of(*inside, is_value_file, &FolderEntry::name))
        return entry.name;
    } catch (const Error&) {
      // Beside files with samples a folder that cannot be read, or a link to nowhere, is nobody's
      // sample.
    }
  }
  return std::nullopt;
}

/// The one layout of a folder whose top holds files with samples.
Layout layout_of_files(const Candidates& candidates, const std::string& folder) {
  const std::vector<FolderEntry>& files =
      candidates.npys.empty() ? candidates.npzs : candidates.npys;
  if (!candidates.npys.empty() && !candidates.npzs.empty()) {
    refuse_mixed(folder, candidates.npys.front().name, candidates.npzs.front().name);
  }
  if (!candidates.protos.empty() && !files.empty()) {
    refuse_mixed(folder, files.front().name, candidates.protos.front().name);
  }
  if (!candidates.protos.empty()) {
    throw Error(ErrorKind::Input, folder + ": holds " + candidates.protos.front().name +
                                      " itself, expected a folder for each sample");
  }
  if (const auto sample_folder = find_sample_folder(candidates, folder)) {
    refuse_mixed(folder, files.front().name, *sample_folder + "/");
  }
  return candidates.npys.empty() ? Layout::Npz : Layout::Npy;
}

void require_one_input(std::span<const TensorInfo> inputs, const std::string& folder) {
  if (inputs.size() == 1) return;
  std::vector<std::string> names;
  for (const TensorInfo& input : inputs) names.push_back(input.name);
  throw Error(ErrorKind::Input,
              folder + ": holds an .npy file for each sample, but the model has " +
                  std::to_string(inputs.size()) + " inputs (" + join(names) +
                  "), expected a folder for each sample with a file for each input");
}

void add_files(SampleList& list, std::span<const FolderEntry> files, std::size_t limit) {
  list.is_cut = files.size() > limit;
  list.file_sets = {{ValueFile{}}};
  for (const FolderEntry& file : files.first(std::min(files.size(), limit))) {
    list.samples.push_back({std::string(stem(file.name)), 0});
  }
}

/// Lists folders one by one and gives those with equal files one file set.
class FolderLister {
 public:
  FolderLister(std::span<const TensorInfo> inputs, bool with_outputs)
      : inputs_(inputs), with_outputs_(with_outputs) {}

  /// The file set of `folder`, or nothing where it is no sample.
  std::optional<std::uint32_t> add(const std::string& folder, SampleList& list) {
    const auto entries = list_folder(folder);
    if (!entries) return std::nullopt;
    std::vector<std::string> names;
    for (const FolderEntry& entry : *entries) {
      if (!is_value_file(entry.name)) continue;
      require_file(entry, folder);
      names.push_back(entry.name);
    }
    // An empty folder is a sample that lost its files; one with other things was never a sample.
    if (names.empty() && !entries->empty()) return std::nullopt;
    const auto [known, is_new] =
        known_.try_emplace(std::move(names), static_cast<std::uint32_t>(list.file_sets.size()));
    if (is_new)
      list.file_sets.push_back(resolve_files(known->first, inputs_, with_outputs_, folder));
    return known->second;
  }

 private:
  std::span<const TensorInfo> inputs_;
  bool with_outputs_;
  std::map<std::vector<std::string>, std::uint32_t> known_;
};

void add_folders(SampleList& list, std::span<const FolderEntry> folders, const std::string& folder,
                 FolderLister lister, std::size_t limit) {
  for (const FolderEntry& entry : folders) {
    throw_if_interrupted();
    if (list.samples.size() == limit) {
      list.is_cut = true;
      return;
    }
    if (const auto file_set = lister.add(join_path(folder, entry.name), list)) {
      list.samples.push_back({entry.name, *file_set});
    }
  }
}

}  // namespace

SampleList list_samples(const std::string& folder, std::span<const TensorInfo> inputs,
                        bool with_outputs, std::optional<std::int64_t> max_samples) {
  auto entries = list_folder(folder);
  if (!entries)
    throw Error(ErrorKind::Input, folder + ": is not a folder, expected a folder of samples");
  const Candidates candidates = sort_out(std::move(*entries), folder);
  const auto limit =
      static_cast<std::size_t>(std::max<std::int64_t>(max_samples.value_or(PTRDIFF_MAX), 0));
  SampleList list;
  if (candidates.npys.empty() && candidates.npzs.empty() && candidates.protos.empty()) {
    list.layout = Layout::Folders;
    add_folders(list, candidates.folders, folder, {inputs, with_outputs}, limit);
  } else {
    list.layout = layout_of_files(candidates, folder);
    if (list.layout == Layout::Npy) require_one_input(inputs, folder);
    add_files(list, list.layout == Layout::Npy ? candidates.npys : candidates.npzs, limit);
  }
  if (list.samples.empty()) {
    throw Error(
        ErrorKind::Input,
        folder + ": holds no samples, expected .npy files, .npz files or a folder for each sample");
  }
  list.samples.shrink_to_fit();
  return list;
}

}  // namespace qtool
