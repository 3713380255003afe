#include "calibrate/table.h"

#include <cstddef>
#include <fmt/format.h>
#include <span>

#include "base/error.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "calibrate/table.pb.h"
#include "calibrate/table_channel_extremes.h"
#include "calibrate/table_channels.h"
#include "calibrate/table_codec.h"
#include "config/json.h"
#include "model/messages.h"
#include "model/wire.h"

namespace qtool {
namespace {

constexpr std::string_view kMagic = "qtool calibration table";
constexpr std::uint32_t kFormatVersion = 1;
/// What a reader takes into memory at once.
constexpr std::size_t kMaxBytes = std::size_t{1} << 30;
constexpr std::size_t kDigestBytes = 32;
/// Tag and length of the field `sha256`, behind which only the digest follows.
constexpr std::string_view kDigestHead = "\x7a\x20";
constexpr std::size_t kDigestFieldBytes = kDigestHead.size() + kDigestBytes;

Error fault(const std::string& where, const std::string& what, const std::string& hint = {}) {
  return Error(ErrorKind::Input, where + ": " + what, hint);
}

/// How every table begins: the field `magic` with its tag and length.
std::string head() {
  return std::string("\x0a") + static_cast<char>(kMagic.size()) + std::string(kMagic);
}

std::string digest_of(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  const auto digest = hash.digest();
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

int hex_value(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

/// The bytes that pairs of lower-case hexadecimal digits stand for.
std::string from_hex(std::string_view digits) {
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    out += static_cast<char>(hex_value(digits[i]) * 16 + hex_value(digits[i + 1]));
  return out;
}

std::string hex_of(const std::string& digest, const char* field, const std::string& where) {
  if (digest.size() != kDigestBytes) {
    throw fault(where,
                fmt::format("{} has {} bytes, expected {}", field, digest.size(), kDigestBytes));
  }
  return to_hex(std::as_bytes(std::span(digest)));
}

StatisticsKindProto encode(StatisticsKind kind) {
  switch (kind) {
    case StatisticsKind::Extremes:
      return STATISTICS_KIND_EXTREMES;
    case StatisticsKind::Distribution:
      return STATISTICS_KIND_DISTRIBUTION;
    case StatisticsKind::All:
      break;
  }
  return STATISTICS_KIND_ALL;
}

StatisticsKind decode_kind(StatisticsKindProto kind, const std::string& where) {
  switch (kind) {
    case STATISTICS_KIND_EXTREMES:
      return StatisticsKind::Extremes;
    case STATISTICS_KIND_DISTRIBUTION:
      return StatisticsKind::Distribution;
    case STATISTICS_KIND_ALL:
      return StatisticsKind::All;
    default:
      throw fault(where, fmt::format("kind is {}, expected 1 to 3", static_cast<int>(kind)));
  }
}

/// Refuses, before anything is taken apart, what is no table or was changed since it was written.
void check_frame(std::string_view bytes, const std::string& where) {
  if (bytes.empty()) throw fault(where, "is empty, expected a calibration table");
  if (!bytes.starts_with(head())) {
    const std::size_t first = bytes.find_first_not_of(" \t\r\n");
    const bool is_json = first != std::string_view::npos && bytes[first] == '{';
    throw fault(where,
                fmt::format("is no calibration table{}, expected one of qtool calibrate",
                            is_json ? " but JSON" : ""),
                is_json ? "ONNX Runtime's cache is read by the key calibration.cache" : "");
  }
  const std::size_t length = bytes.size() - std::min(bytes.size(), kDigestFieldBytes);
  const std::string_view end = bytes.substr(length);
  if (!end.starts_with(kDigestHead) ||
      end.substr(kDigestHead.size()) != digest_of(bytes.substr(0, length))) {
    throw fault(where, "is damaged or cut off: its checksum is not that of its content");
  }
}

TableOrigin decode_origin(const CalibrationTableProto& message, const std::string& where) {
  if (message.format_version() != kFormatVersion) {
    throw fault(
        where,
        fmt::format("format_version is {}, expected {}", message.format_version(), kFormatVersion),
        "it was written by another version of qtool: " + message.qtool_version());
  }
  TableOrigin out;
  out.qtool_version = message.qtool_version();
  out.onnxruntime_version = message.onnxruntime_version();
  out.model_sha256 = hex_of(message.model_sha256(), "model_sha256", where);
  out.preprocess = message.preprocess();
  const JsonValue section = parse_json(out.preprocess, where + ": preprocess", ErrorKind::Input);
  if (section.as<JsonValue::Object>() == nullptr)
    throw fault(where, "preprocess is " + found_text(section) + ", expected an object");
  out.kind = decode_kind(message.kind(), where);
  out.has_sample_extremes = message.has_sample_extremes();
  out.has_channel_extremes = message.has_channel_extremes();
  out.total_samples = message.total_samples();
  out.sample_names_sha256 = hex_of(message.sample_names_sha256(), "sample_names_sha256", where);
  return out;
}

std::vector<TableSample> decode_samples(const CalibrationTableProto& message,
                                        std::uint64_t total_samples, const std::string& where) {
  std::vector<TableSample> out;
  for (const CalibratedSampleProto& sample : message.samples()) {
    if (!out.empty() && sample.index() <= out.back().index) {
      throw fault(where, fmt::format("sample number {} stands behind {}, expected ascending ones",
                                     sample.index(), out.back().index));
    }
    if (sample.index() >= total_samples) {
      throw fault(where, fmt::format("has sample number {}, expected less than {}, the samples of "
                                     "the folder",
                                     sample.index(), total_samples));
    }
    out.push_back({sample.index(), sample.name(), hex_of(sample.sha256(), "sample sha256", where)});
  }
  return out;
}

void decode_tensors(const CalibrationTableProto& message, CalibrationTable& table,
                    const std::string& where) {
  const std::string* last = nullptr;
  for (const TensorStatisticsProto& tensor : message.tensors()) {
    const std::string name = where + ": tensor " + in_quotes(tensor.name());
    if (last != nullptr && tensor.name() <= *last) {
      throw fault(name, tensor.name() == *last ? "is there twice, expected once"
                                               : "is not in order, expected ascending names");
    }
    last = &tensor.name();
    const auto& statistics =
        table.tensors
            .emplace(tensor.name(), decode_statistics(tensor, table.origin, table.samples, name))
            .first->second;
    if (tensor.has_channels())
      table.channels.emplace(tensor.name(), decode_channels(tensor.channels(), statistics, name));
    if (table.origin.has_channel_extremes) {
      table.channel_extremes.emplace(
          tensor.name(), decode_channel_extremes(tensor.channel_extremes(), statistics, name));
    }
  }
}

void encode_origin(const TableOrigin& origin, CalibrationTableProto& out) {
  out.set_magic(std::string(kMagic));
  out.set_format_version(kFormatVersion);
  out.set_qtool_version(origin.qtool_version);
  out.set_onnxruntime_version(origin.onnxruntime_version);
  out.set_model_sha256(from_hex(origin.model_sha256));
  out.set_preprocess(origin.preprocess);
  out.set_kind(encode(origin.kind));
  out.set_has_sample_extremes(origin.has_sample_extremes);
  out.set_has_channel_extremes(origin.has_channel_extremes);
  out.set_total_samples(origin.total_samples);
  out.set_sample_names_sha256(from_hex(origin.sample_names_sha256));
}

template <typename Message>
void append(int field, const Message& message, std::string& out) {
  append_bytes_head(out, static_cast<std::uint32_t>(field), message.ByteSizeLong());
  message.AppendToString(&out);
}

void append_sample(const TableSample& sample, std::string& out) {
  CalibratedSampleProto message;
  message.set_index(sample.index);
  message.set_name(sample.name);
  message.set_sha256(from_hex(sample.sha256));
  append(CalibrationTableProto::kSamplesFieldNumber, message, out);
}

}  // namespace

std::string table_bytes(const CalibrationTable& table) {
  CalibrationTableProto message;
  encode_origin(table.origin, message);
  // Lists are appended one by one: as one message they would take several times their size.
  std::string out = message.SerializeAsString();
  for (const TableSample& sample : table.samples) append_sample(sample, out);
  for (const auto& [name, statistics] : table.tensors) {
    TensorStatisticsProto tensor;
    tensor.set_name(name);
    encode_statistics(statistics, tensor);
    if (const auto channels = table.channels.find(name); channels != table.channels.end())
      encode_channels(channels->second, *tensor.mutable_channels());
    const auto extremes = table.channel_extremes.find(name);
    if (extremes != table.channel_extremes.end() && !extremes->second.is_empty())
      encode_channel_extremes(extremes->second, *tensor.mutable_channel_extremes());
    append(CalibrationTableProto::kTensorsFieldNumber, tensor, out);
  }
  if (out.size() > kMaxBytes - kDigestFieldBytes) {
    throw Error(
        ErrorKind::Input,
        fmt::format("calibration table: has {} bytes, expected at most {}", out.size(), kMaxBytes));
  }
  const std::string digest = digest_of(out);
  return out.append(kDigestHead).append(digest);
}

CalibrationTable parse_table(std::string_view bytes, const std::string& where) {
  check_frame(bytes, where);
  CalibrationTableProto message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw fault(where, "is no protobuf message, expected a calibration table");
  CalibrationTable out;
  out.origin = decode_origin(message, where);
  out.samples = decode_samples(message, out.origin.total_samples, where);
  decode_tensors(message, out, where);
  // What the message has beyond, or in another order, would be lost without a word.
  if (table_bytes(out) != bytes)
    throw fault(where, "is not in the one form that tables have: fields are unknown or unordered");
  return out;
}

CalibrationTable read_table(const std::filesystem::path& path) {
  return parse_table(read_file(path, kMaxBytes), printable(path.string()));
}

bool is_table_file(const std::filesystem::path& path) {
  const std::string wanted = head();
  std::string found(wanted.size(), '\0');
  try {
    InputFile file(path);
    found.resize(file.read(std::as_writable_bytes(std::span(found))));
  } catch (const Error&) {
    return false;
  }
  return found == wanted;
}

}  // namespace qtool
