#include "model/external_data.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "model/messages.h"
#include "model/parse.h"

namespace qtool {
namespace {

namespace fs = std::filesystem;

/// What external_data says of a tensor.
struct Entries {
  std::optional<std::string> location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Entries read_entries(const onnx::TensorProto& tensor, const std::string& context) {
  const auto size_of = [&](const onnx::StringStringEntryProto& entry) {
    const auto size = parse_size(entry.value());
    if (size) return *size;
    throw Error(ErrorKind::Input, context + ": external data has " + entry.key() + " " +
                                      in_quotes(entry.value()) + ", expected a number of bytes");
  };
  Entries out;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") out.location = entry.value();
    if (entry.key() == "offset") out.offset = size_of(entry);
    if (entry.key() == "length") out.length = size_of(entry);
  }
  return out;
}

/// Both paths have no links in them.
bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
         folder.end();
}

/// The folders that a model's data may be in: that of the path as given, and where that is a link,
/// that of the file. Download caches keep models and their data as links into a folder of blobs.
std::vector<fs::path> folders_of(const fs::path& path) {
  std::vector<fs::path> out;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder.empty() ? fs::path(".") : folder, error);
    if (!error && std::ranges::find(out, real) == out.end()) out.push_back(real);
  };
  add(path.parent_path());
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (!error) add(file.parent_path());
  return out;
}

}  // namespace

DataFiles::DataFiles(const fs::path& path, MappedFile model_file)
    : where_(printable(path.string())), folders_(folders_of(path)) {
  std::error_code ignored;
  canonical_paths_.push_back(fs::canonical(path, ignored));
  files_.push_back(std::make_shared<const MappedFile>(std::move(model_file)));
}

Reference DataFiles::resolve(const onnx::TensorProto& tensor, const TensorPlace& place,
                             std::size_t bytes) {
  const std::string context = where_ + ": " + describe(tensor, place);
  const Entries entries = read_entries(tensor, context);
  if (!entries.location) throw Error(ErrorKind::Input, context + ": external data has no location");
  const bool is_in_model = *entries.location == kInModelFile;
  const std::size_t index = is_in_model ? 0 : index_of(*entries.location, context);
  if (entries.length.value_or(bytes) != bytes) {
    throw Error(ErrorKind::Input, context + ": has " + std::to_string(*entries.length) +
                                      " bytes of values, expected " + std::to_string(bytes) +
                                      " by its shape and type");
  }
  const std::size_t size = files_[index]->bytes().size();
  const auto end = checked_add<std::uint64_t>(entries.offset, bytes);
  if (!end || *end > size) {
    throw Error(ErrorKind::Input,
                context + ": external data " + in_quotes(is_in_model ? where_ : *entries.location) +
                    " has " + std::to_string(size) + " bytes, expected " + std::to_string(bytes) +
                    " from byte " + std::to_string(entries.offset) + " on");
  }
  return {.file = index, .offset = static_cast<std::size_t>(entries.offset), .length = bytes};
}

std::vector<Model::DataFile> DataFiles::take() {
  std::vector<Model::DataFile> out;
  for (auto& file : files_) out.push_back({reference_location(out.size()), std::move(file)});
  return out;
}

std::size_t DataFiles::index_of(const std::string& location, const std::string& context) {
  const fs::path path = find_inside(location, context);
  const auto known = std::ranges::find(canonical_paths_, path);
  if (known == canonical_paths_.end()) {
    try {
      files_.push_back(std::make_shared<const MappedFile>(path));
    } catch (const Error& error) {
      throw Error(error.kind(), context + ": external data: " + error.what(), error.hint());
    }
    canonical_paths_.push_back(path);
    return files_.size() - 1;
  }
  return static_cast<std::size_t>(known - canonical_paths_.begin());
}

/// The file itself, all links followed.
fs::path DataFiles::find_inside(const std::string& location, const std::string& context) const {
  const std::string what = context + ": external data " + in_quotes(location);
  const fs::path relative(location);
  if (location.empty() || location.find('\0') != std::string::npos || relative.is_absolute()) {
    throw Error(ErrorKind::Input,
                what + ": expected the path of a file relative to the model's folder");
  }
  for (const fs::path& folder : folders_) {
    std::error_code error;
    const fs::path found = fs::canonical(folder / relative, error);
    if (error) continue;
    if (std::ranges::any_of(folders_, [&](const fs::path& each) { return is_inside(found, each); }))
      return found;
    throw Error(ErrorKind::Input, what + ": lies outside the model's folder",
                "qtool reads external data only from the folder of the model and those inside it");
  }
  throw Error(ErrorKind::Io, what + ": no such file in the model's folder");
}

}  // namespace qtool
