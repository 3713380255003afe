#include "samples/folder_entries.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"

namespace qtool {
namespace {

/// For file systems that do not tell the kind with the name.
FolderEntry::Kind kind_by_status(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) throw io_error(path, "cannot be read", errno);
  if (S_ISREG(status.st_mode)) return FolderEntry::Kind::File;
  if (S_ISDIR(status.st_mode)) return FolderEntry::Kind::Folder;
  return S_ISLNK(status.st_mode) ? FolderEntry::Kind::Link : FolderEntry::Kind::Other;
}

FolderEntry::Kind kind_of(const dirent& entry, const std::string& folder) {
  switch (entry.d_type) {
    case DT_REG:
      return FolderEntry::Kind::File;
    case DT_DIR:
      return FolderEntry::Kind::Folder;
    case DT_LNK:
      return FolderEntry::Kind::Link;
    case DT_UNKNOWN:
      return kind_by_status(join_path(folder, entry.d_name));
    default:
      return FolderEntry::Kind::Other;
  }
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

std::optional<std::vector<FolderEntry>> list_folder(const std::string& folder) {
  const std::unique_ptr<DIR, CloseFolder> handle(::opendir(folder.c_str()));
  if (handle == nullptr && errno == ENOTDIR) return std::nullopt;
  if (handle == nullptr) throw io_error(folder, "cannot be read", errno);
  std::vector<FolderEntry> out;
  for (errno = 0; const dirent* entry = ::readdir(handle.get()); errno = 0) {
    if (entry->d_name[0] != '.') out.push_back({entry->d_name, kind_of(*entry, folder)});
  }
  if (errno != 0) throw io_error(folder, "cannot be read", errno);
  std::ranges::sort(out, natural_less, &FolderEntry::name);
  return out;
}

std::string_view extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot);
}

std::string_view stem(std::string_view name) {
  return name.substr(0, name.size() - extension(name).size());
}

void require_file(const FolderEntry& entry, const std::string& folder) {
  if (entry.kind == FolderEntry::Kind::File || entry.kind == FolderEntry::Kind::Link) return;
  throw Error(
      ErrorKind::Input,
      join_path(folder, entry.name) + ": is " +
          (entry.kind == FolderEntry::Kind::Folder ? "a folder" : "a pipe, socket or device") +
          ", expected a file");
}

std::string join_path(std::string_view folder, std::string_view name) {
  std::string out;
  out.reserve(folder.size() + 1 + name.size());
  out += folder;
  if (!out.ends_with('/')) out += '/';
  return out += name;
}

}  // namespace qtool
