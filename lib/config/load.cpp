#include "config/load.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "config/describe.h"
#include "config/key_info.h"

namespace qtool {
namespace {

/// Room for tensor overrides of a large model; far below what a parsed text may take of the memory.
constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{16} << 20;

constexpr double kLeastRangeOfQnn = 1e-4;

/// A source of values that was read but not yet applied.
struct Layer {
  JsonValue value;
  Place place;
};

Layer read_layer(std::string_view text, const std::filesystem::path& file) {
  Place place;
  place.source = file.string();
  place.line = 1;
  place.folder = file.parent_path();
  return {parse_json(text, file.string()), std::move(place)};
}

/// `word` as JSON, or as the string that it is.
JsonValue json_or_string(const std::string& word) {
  try {
    return parse_json(word, "");
  } catch (const Error&) {
    return {word};
  }
}

JsonValue value_of(const Setting& setting, WordForm form) {
  const std::string& first = setting.words.front();
  if (form != WordForm::Text && form != WordForm::List) return json_or_string(first);
  JsonValue json = setting.is_option ? JsonValue(first) : json_or_string(first);
  if (form == WordForm::Text) {
    // A number, say, is a fine name for a file.
    return json.is_null() || json.as<std::string>() != nullptr ? json : JsonValue(first);
  }
  if (setting.words.size() == 1 && (json.is_null() || json.as<JsonValue::List>() != nullptr))
    return json;
  JsonValue::List list;
  for (const std::string& word : setting.words) list.push_back({word});
  return {std::move(list)};
}

/// `a.b = value` as the object {"a": {"b": value}}.
Layer read_layer(const Setting& setting, const std::vector<Key>& keys) {
  Place place;
  place.source = setting.source;
  place.names_key = !setting.is_option;
  Place at_key = place;
  at_key.key = setting.key;
  const KeyPath path = resolve_key(setting.key, keys, at_key);
  JsonValue value = value_of(setting, path.info.form);
  for (auto name = path.names.rbegin(); name != path.names.rend(); ++name) {
    value = {JsonValue::Object{{*name, std::move(value)}}};
  }
  return {std::move(value), place};
}

/// The value that the strongest layer gives to a key on which defaults of others depend.
template <NamedEnum E>
E chosen(const std::vector<Layer>& layers, const std::vector<std::string>& names, E otherwise) {
  for (const Layer& layer : layers) {
    const JsonValue* value = &layer.value;
    Place place = layer.place;
    for (const std::string& name : names) {
      value = value == nullptr ? nullptr : value->find(name);
      if (value != nullptr) place = place.member(name, value->line);
    }
    if (value != nullptr) read_value(*value, place, Rule{}, otherwise);
  }
  return otherwise;
}

/// Applies the file, if there is one, and the settings, weakest first, to the defaults that they
/// choose.
Config build(std::optional<Layer> file, const std::vector<Setting>& settings, Preset otherwise) {
  Config config;
  const std::vector<Key> keys = keys_of(config);
  std::vector<Layer> layers;
  if (file) layers.push_back(std::move(*file));
  for (const Setting& setting : settings) layers.push_back(read_layer(setting, keys));
  config = preset_defaults(chosen(layers, {"preset"}, otherwise),
                           chosen(layers, {"calibration", "method"}, config.calibration.method));
  for (const Layer& layer : layers) read_members(layer.value, layer.place, keys);
  return config;
}

}  // namespace

Config preset_defaults(Preset preset, CalibrationMethod method) {
  Config config;
  config.preset = preset;
  QuantizationConfig& quantization = config.quantization;
  switch (preset) {
    case Preset::Cpu:
    case Preset::CpuAvx2:
      break;
    case Preset::Arm64:
      quantization.activation_type = QuantType::Int8;
      break;
    case Preset::TensorRt:
    case Preset::MiGraphX:
      quantization.activation_type = QuantType::Int8;
      quantization.extra_options.activation_symmetric = true;
      quantization.extra_options.quantize_bias = false;
      quantization.per_channel = preset == Preset::TensorRt;
      break;
    case Preset::OpenVino:
      quantization.extra_options.quantize_bias = false;
      break;
    case Preset::Qnn:
      quantization.weight_type = QuantType::UInt8;
      quantization.per_channel = false;
      quantization.extra_options.minimum_real_range = kLeastRangeOfQnn;
      quantization.extra_options.force_quantize_no_input_check = true;
      break;
    case Preset::OnnxRuntime:
      config.preprocess.enabled = false;
      quantization.activation_type = QuantType::Int8;
      quantization.per_channel = false;
      if (method == CalibrationMethod::Entropy) config.calibration.num_bins = 128;
      config.calibration.symmetric = method == CalibrationMethod::Percentile;
      break;
  }
  return config;
}

std::string config_to_json(const Config& config) { return to_json_text(write_value(config)); }

std::string config_schema() {
  JsonValue schema = schema_of(static_cast<const Config*>(nullptr), Rule{});
  auto& object = std::get<JsonValue::Object>(schema.data);
  object.insert(object.begin(),
                {{"$schema", {std::string("https://json-schema.org/draft/2020-12/schema")}},
                 {"title", {std::string("Config of qtool")}}});
  return to_json_text(schema);
}

bool has_value(const Config& config, std::string_view dotted) {
  const JsonValue all = write_value(config);
  const JsonValue* value = &all;
  Config scratch;
  Place place;
  place.key = dotted;
  for (const std::string& name : resolve_key(dotted, keys_of(scratch), place).names) {
    if (value != nullptr) value = value->find(name);
  }
  if (value == nullptr || value->is_null()) return false;
  const auto* list = value->as<JsonValue::List>();
  const auto* object = value->as<JsonValue::Object>();
  return (list == nullptr || !list->empty()) && (object == nullptr || !object->empty());
}

KeyInfo key_info(std::string_view dotted) {
  Config config;
  Place place;
  place.key = dotted;
  return resolve_key(dotted, keys_of(config), place).info;
}

Config read_config(std::string_view text, const std::filesystem::path& file,
                   const std::vector<Setting>& settings, Preset otherwise) {
  return build(read_layer(text, file), settings, otherwise);
}

Config load_config(const ConfigSources& sources) {
  if (!sources.file) return build(std::nullopt, sources.settings, sources.otherwise);
  return read_config(read_file(*sources.file, kMaxConfigBytes), *sources.file, sources.settings,
                     sources.otherwise);
}

bool names_preset(const ConfigSources& sources) {
  constexpr std::string_view kPreset = "preset";
  if (std::ranges::find(sources.settings, kPreset, &Setting::key) != sources.settings.end())
    return true;
  return sources.file && read_layer(read_file(*sources.file, kMaxConfigBytes), *sources.file)
                                 .value.find(std::string(kPreset)) != nullptr;
}

}  // namespace qtool
