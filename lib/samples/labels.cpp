#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "samples/folder_entries.h"
#include "samples/samples.h"

namespace qtool {
namespace {

using Json = nlohmann::json;

constexpr int kDepthLimit = 8;
constexpr std::uint64_t kLabelsLimit = std::uint64_t{1} << 28;

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw Error(ErrorKind::Input, where + ": " + what);
}

[[noreturn]] void refuse_count(const std::string& where, std::size_t found, std::size_t expected) {
  refuse(where, "holds " + std::to_string(found) + " labels, expected " + std::to_string(expected) +
                    ", one for each sample");
}

/// Gives labels that come with the names of samples their order.
class LabelsByName {
 public:
  LabelsByName(const std::string& path, const SampleFolder& folder)
      : path_(path), folder_(folder), labels_(folder.size()) {
    for (std::size_t i = 0; i < folder.size(); ++i) index_.emplace(folder.name(i), i);
  }

  bool has_sample(std::string_view name) const { return find(name) != index_.end(); }

  /// `where` names the entry in messages.
  void add(std::string_view name, std::int64_t label, const std::string& where) {
    const auto sample = find(name);
    if (sample == index_.end()) {
      // The folder knows only the samples that it was limited to.
      if (folder_.is_cut()) return;
      refuse(where, "no sample '" + std::string(name) + "' in the folder");
    }
    auto& slot = labels_[sample->second];
    if (slot) refuse(where, "second label for sample '" + std::string(sample->first) + "'");
    slot = label;
  }

  std::vector<std::int64_t> take() const {
    std::vector<std::int64_t> out;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (!labels_[i]) refuse(path_, "no label for sample '" + folder_.name(i) + "'");
      out.push_back(*labels_[i]);
    }
    return out;
  }

 private:
  using Index = std::map<std::string_view, std::size_t>;

  Index::const_iterator find(std::string_view name) const {
    const auto exact = index_.find(name);
    if (exact != index_.end() || (extension(name) != ".npy" && extension(name) != ".npz"))
      return exact;
    return index_.find(stem(name));
  }

  const std::string& path_;
  const SampleFolder& folder_;
  Index index_;
  std::vector<std::optional<std::int64_t>> labels_;
};

std::vector<std::int64_t> in_sample_order(std::vector<std::int64_t> labels, const std::string& path,
                                          const SampleFolder& folder) {
  if (labels.size() < folder.size() || (labels.size() > folder.size() && !folder.is_cut())) {
    refuse_count(path, labels.size(), folder.size());
  }
  labels.resize(folder.size());
  return labels;
}

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

/// JSON text to values. A name that stands twice is an error, where the library would take the
/// last.
Json parse_json(const std::string& text, const std::string& path) {
  std::set<std::string> names;
  const auto check = [&](int depth, Json::parse_event_t event, const Json& value) {
    // What the library builds it also takes apart and prints by recursion.
    if (depth > kDepthLimit)
      refuse(path, "nested too deep, expected a list or an object of labels");
    const bool is_name = event == Json::parse_event_t::key && depth == 1;
    if (is_name && !names.insert(value.get<std::string>()).second) {
      refuse(path, "second label for sample '" + value.get<std::string>() + "'");
    }
    return true;
  };
  std::size_t at = 0;
  try {
    return Json::parse(text, check, true, true);
  } catch (const Json::parse_error& error) {
    at = error.byte;
  } catch (const Json::exception&) {
    refuse(path, "broken JSON: a number is out of range");
  }
  refuse(path + ":" + std::to_string(line_of(text, at)),
         "broken JSON, expected a list or an object of labels");
}

std::int64_t json_label(const Json& value, const std::string& where) {
  const bool is_class = value.is_number_integer() &&
                        (!value.is_number_unsigned() || value <= INT64_MAX) && value >= 0;
  if (!is_class) {
    refuse(where, "label is " +
                      printable(value.dump(-1, ' ', false, Json::error_handler_t::replace), 100) +
                      ", expected the number of a class");
  }
  return value.get<std::int64_t>();
}

std::vector<std::int64_t> read_json(const std::string& path, const SampleFolder& folder) {
  const Json json = parse_json(read_file(path, kLabelsLimit), path);
  if (json.is_array()) {
    std::vector<std::int64_t> labels;
    for (const Json& value : json) {
      labels.push_back(json_label(value, path + ": entry " + std::to_string(labels.size())));
    }
    return in_sample_order(std::move(labels), path, folder);
  }
  if (!json.is_object()) refuse(path, "holds no labels, expected a list or an object of labels");
  LabelsByName labels(path, folder);
  for (const auto& [name, value] : json.items()) {
    const std::string where = path + ": sample '" + name + "'";
    labels.add(name, json_label(value, where), path);
  }
  return labels.take();
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(kSpace) - first + 1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    text = text.substr(1, text.size() - 2);
  return text;
}

struct CsvLine {
  std::size_t number = 0;
  bool has_name = false;
  std::string_view name, label;
};

/// The lines of a table of one or two columns. A comma may be part of a sample's name.
std::vector<CsvLine> csv_lines(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<CsvLine> out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (trim(line).empty()) continue;
    const std::size_t comma = line.rfind(',');
    const bool has_name = comma != std::string_view::npos;
    out.push_back({number, has_name, has_name ? trim(line.substr(0, comma)) : std::string_view(),
                   trim(has_name ? line.substr(comma + 1) : line)});
  }
  return out;
}

std::optional<std::int64_t> class_number(std::string_view text) {
  std::int64_t out = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (failure != std::errc() || end != text.data() + text.size() || out < 0) return std::nullopt;
  return out;
}

std::vector<std::int64_t> read_csv(const std::string& path, const SampleFolder& folder) {
  const std::string text = read_file(path, kLabelsLimit);
  std::vector<CsvLine> lines = csv_lines(text);
  LabelsByName by_name(path, folder);
  // Tables often begin with the names of their columns.
  const bool has_head =
      !lines.empty() && !class_number(lines[0].label) && !by_name.has_sample(lines[0].name);
  if (has_head) lines.erase(lines.begin());
  const bool has_names = !lines.empty() && lines[0].has_name;
  std::vector<std::int64_t> in_order;
  for (const CsvLine& line : lines) {
    const std::string where = path + ":" + std::to_string(line.number);
    const auto label = class_number(line.label);
    if (!label)
      refuse(where, "label is '" + std::string(line.label) + "', expected the number of a class");
    if (line.has_name != has_names)
      refuse(where, "lines with and without a name, expected one kind");
    if (has_names) {
      by_name.add(line.name, *label, where);
    } else {
      in_order.push_back(*label);
    }
  }
  return has_names ? by_name.take() : in_sample_order(std::move(in_order), path, folder);
}

}  // namespace

std::vector<std::int64_t> read_labels(const std::filesystem::path& path,
                                      const SampleFolder& folder) {
  const std::string ending = to_lower(path.extension().string());
  if (ending == ".json") return read_json(path.string(), folder);
  if (ending == ".csv") return read_csv(path.string(), folder);
  refuse(path.string(), "labels in a file '" + ending + "', expected .json or .csv");
}

std::optional<std::filesystem::path> find_labels(const std::filesystem::path& folder) {
  for (const char* const name : {"labels.json", "labels.csv"}) {
    std::error_code ignored;
    if (std::filesystem::exists(folder / name, ignored)) return folder / name;
  }
  return std::nullopt;
}

}  // namespace qtool
