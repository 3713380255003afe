#include "files.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/error.h"

namespace qtool::cli {
namespace {

/// A file of the run, as messages call it.
struct NamedFile {
  std::string name;
  std::filesystem::path path;
};

void add(std::vector<NamedFile>& files, std::string name,
         const std::optional<std::filesystem::path>& path) {
  if (path) files.push_back({std::move(name), *path});
}

/// `calibrate` always writes the cache, `static` where it is not there to be read.
bool writes_cache(const Command& command, const Config& config) {
  if (!config.calibration.cache) return false;
  std::error_code ignored;
  return command.name == "calibrate" ||
         (command.name == "static" && !std::filesystem::exists(*config.calibration.cache, ignored));
}

std::vector<NamedFile> files_read(const CommandLine& command_line, const Config& config) {
  std::vector<NamedFile> out;
  add(out, "the config file", command_line.sources.file);
  add(out, "the input model", config.model.input);
  add(out, "the file of labels", config.verify.labels);
  // `calibrate` writes the table that the same config names for `static`.
  const bool reads_table =
      std::ranges::any_of(command_line.command->key_options, [&](const KeyOption& option) {
        return option.key == "calibration.table" &&
               (option.only_with.empty() || command_line.own.contains(option.only_with));
      });
  if (reads_table) add(out, "the calibration table", config.calibration.table);
  if (reads_table && !writes_cache(*command_line.command, config))
    add(out, "the calibration cache", config.calibration.cache);
  if (const auto tables = command_line.own.find("--merge"); tables != command_line.own.end()) {
    for (const std::string& table : tables->second) add(out, "a table to merge", table);
  }
  if (!command_line.command->writes_model) add(out, "the second model", config.model.output);
  return out;
}

bool writes_output(const CommandLine& command_line) {
  const Command& command = *command_line.command;
  return command.writes_model &&
         std::ranges::none_of(command.own_options, [&](const OwnOption& option) {
           return option.writes_nothing && command_line.own.contains(option.flag);
         });
}

std::vector<NamedFile> files_written(const CommandLine& command_line, const Config& config) {
  std::vector<NamedFile> out;
  if (writes_output(command_line) && config.model.output) {
    add(out, "model.output", config.model.output);
    if (config.report.manifest) {
      add(out, "the manifest", config.model.output->string() + ".manifest.json");
    }
  }
  if (writes_cache(*command_line.command, config) && writes_output(command_line))
    add(out, "calibration.cache", config.calibration.cache);
  add(out, "report.html", config.report.html);
  add(out, "report.json", config.report.json);
  add(out, "--log-file", command_line.log_file);
  return out;
}

void check_folder_of(const std::filesystem::path& file) {
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::error_code fault;
  const bool is_folder = std::filesystem::is_directory(folder, fault);
  if (!is_folder)
    throw io_error(file.string(), "cannot be written", fault ? fault.value() : ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    throw io_error(file.string(), "cannot be written", errno);
}

/// Files that appear only when complete cannot take the place of anything but a file.
void check_is_file_name(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored) || std::filesystem::is_regular_file(path, ignored))
    return;
  const bool is_folder = std::filesystem::is_directory(path, ignored);
  throw Error(ErrorKind::Io,
              fmt::format("{}: cannot be written: {}, expected a file name", path.string(),
                          is_folder ? "is a folder" : "not a regular file"));
}

bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code ignored;
  return std::filesystem::equivalent(a, b, ignored) || a == b;
}

}  // namespace

void check_files(const CommandLine& command_line, const Config& config) {
  const std::vector<NamedFile> read = files_read(command_line, config);
  const std::vector<NamedFile> written = files_written(command_line, config);
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto refuse = [&](const NamedFile& other) {
      const std::string path = written[i].path.string();
      // Two names of one file are both said.
      const std::string name = other.path == written[i].path
                                   ? other.name
                                   : fmt::format("{} '{}'", other.name, other.path.string());
      throw Error(ErrorKind::Usage, fmt::format("{}: '{}' is {} too, expected another file",
                                                written[i].name, path, name));
    };
    for (const NamedFile& other : read) {
      if (is_same_file(written[i].path, other.path)) refuse(other);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (is_same_file(written[i].path, written[j].path)) refuse(written[j]);
    }
    check_folder_of(written[i].path);
    if (written[i].path != command_line.log_file) check_is_file_name(written[i].path);
  }
}

}  // namespace qtool::cli
