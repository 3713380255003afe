#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace qtool {

/// A key that the command line sets.
struct Setting {
  std::string source;              ///< as messages name it: `--set`, `--threads`
  std::string key;                 ///< dotted
  std::vector<std::string> words;  ///< several for a list
  bool is_literal = false;         ///< words mean themselves; otherwise JSON is tried first
};

/// Where a config comes from, weakest first: the preset's defaults, the file, the settings in their
/// order.
struct ConfigSources {
  std::optional<std::filesystem::path> file;
  std::vector<Setting> settings;
};

/// The effective config, every value checked; an `Io` error for a file that cannot be read, else a
/// `Usage` error that names the place and the key. Paths in the file are taken relative to its
/// folder.
Config load_config(const ConfigSources& sources);

/// What `preset` means before anything else is said.
Config preset_defaults(Preset preset);

/// The whole config as a JSON text: the same bytes for the same config, readable by `load_config`.
std::string config_to_json(const Config& config);

/// JSON Schema (2020-12) of the config file.
std::string config_schema();

/// One sentence about a dotted key, for help texts.
std::string key_doc(const std::string& key);

}  // namespace qtool
