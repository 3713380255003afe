#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace qtool {

/// A key that the command line sets.
struct Setting {
  std::string source;              ///< as messages name it: `--set`, `--threads`
  std::string key;                 ///< dotted
  std::vector<std::string> words;  ///< several for a list
  bool is_option =
      false;  ///< an option with a name of its own: its words mean themselves, not JSON
};

/// Where a config comes from, weakest first: the preset's defaults, the file, the settings in their
/// order.
struct ConfigSources {
  std::optional<std::filesystem::path> file;
  std::vector<Setting> settings;
  Preset otherwise = Preset::Cpu;  ///< the preset where nothing names one
};

/// Whether the file or a setting names the preset.
bool names_preset(const ConfigSources& sources);

/// The effective config, every value checked; an `Io` error for a file that cannot be read, else a
/// `Usage` error that names the place and the key. Paths in the file are taken relative to its
/// folder.
Config load_config(const ConfigSources& sources);

/// The same for a file whose content is known already.
Config read_config(std::string_view text, const std::filesystem::path& file,
                   const std::vector<Setting>& settings = {}, Preset otherwise = Preset::Cpu);

/// What `preset` means before anything else is said but the method: ONNX Runtime has defaults of
/// its own for each.
Config preset_defaults(Preset preset, CalibrationMethod method);

/// The whole config as a JSON text: the same bytes for the same config, readable by `load_config`.
std::string config_to_json(const Config& config);

/// Whether a dotted key holds something: not null, not an empty list or object.
bool has_value(const Config& config, std::string_view key);

/// JSON Schema (2020-12) of the config file.
std::string config_schema();

}  // namespace qtool
