#include "model/made_values.h"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

namespace qtool {
namespace {

// The ONNX checker takes what begins with a hash for data in memory and looks for no file.
constexpr std::string_view kPrefix = "#qtool-made:";

template <typename Number>
Number parse_number(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void add_entry(onnx::TensorProto& tensor, const char* key, std::string value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(std::move(value));
}

}  // namespace

void set_made(onnx::TensorProto& tensor, const MadeValues& values) {
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  add_entry(tensor, "location", std::string(kPrefix) + std::to_string(values.number));
  add_entry(tensor, "length", std::to_string(values.bytes));
}

std::optional<MadeValues> made_values_of(const onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return std::nullopt;
  MadeValues out;
  bool is_made = false;
  for (const auto& entry : tensor.external_data()) {
    const std::string_view value = entry.value();
    if (entry.key() == "length") out.bytes = parse_number<std::uint64_t>(value);
    if (entry.key() != "location" || !value.starts_with(kPrefix)) continue;
    is_made = true;
    out.number = parse_number<std::size_t>(value.substr(kPrefix.size()));
  }
  return is_made ? std::optional(out) : std::nullopt;
}

}  // namespace qtool
