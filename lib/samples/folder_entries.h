#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qtool {

/// What a folder holds under a name. A link stays one: what it leads to shows when it is opened.
struct FolderEntry {
  enum class Kind { File, Folder, Link, Other };

  std::string name;
  Kind kind = Kind::File;
};

/// The entries of `folder` in natural order, without hidden ones; an `Io` error where it cannot be
/// read, nothing where it is no folder.
std::optional<std::vector<FolderEntry>> list_folder(const std::string& folder);

/// `.npy` of `s_1.npy`, with the dot; empty where there is none.
std::string_view extension(std::string_view name);

/// `name` without its extension.
std::string_view stem(std::string_view name);

/// Throws the `Input` error for a value's file that is a folder, a pipe or a device.
void require_file(const FolderEntry& entry, const std::string& folder);

/// The path of `name` in `folder`.
std::string join_path(std::string_view folder, std::string_view name);

}  // namespace qtool
