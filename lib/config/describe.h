#pragma once

#include "config/config.h"
#include "config/keys.h"

// The one description of the config: each key's name, place in the structs, limits and meaning.
// Parsing, `--set`, the written config, the JSON Schema, suggestions and docs/config.md all follow
// from it.

namespace qtool {

void describe(KeyList& keys, Config& config);
void describe(KeyList& keys, ModelConfig& config);
void describe(KeyList& keys, PreprocessConfig& config);
void describe(KeyList& keys, CalibrationConfig& config);
void describe(KeyList& keys, QuantizationConfig& config);
void describe(KeyList& keys, ExtraOptions& options);
void describe(KeyList& keys, Float16Config& config);
void describe(KeyList& keys, Float16Auto& config);
void describe(KeyList& keys, VerifyConfig& config);
void describe(KeyList& keys, ReportConfig& config);

}  // namespace qtool
