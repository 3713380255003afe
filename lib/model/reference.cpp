#include "model/reference.h"

#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace qtool {
namespace {

// The ONNX checker takes what begins with a hash for data in memory and looks for no file.
constexpr std::string_view kPrefix = "#qtool:";
constexpr std::string_view kNarrowing = "narrowing";

std::size_t parse_number(std::string_view text) {
  std::size_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::size_t file_number(const onnx::TensorProto& tensor, std::string_view location) {
  if (!location.starts_with(kPrefix)) {
    throw Error(ErrorKind::Internal, "tensor '" + printable(tensor.name()) +
                                         "' refers to a file that is not the model's");
  }
  return parse_number(location.substr(kPrefix.size()));
}

double parse_double(std::string_view& text) {
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return value;
}

/// The type is the tensor's own.
Narrowing parse_narrowing(const onnx::TensorProto& tensor, std::string_view text) {
  Narrowing out;
  out.type = static_cast<ElementType>(tensor.data_type());
  out.min_positive = parse_double(text);
  out.max_finite = parse_double(text);
  return out;
}

std::string narrowing_text(const Narrowing& narrowing) {
  // The shortest text that gives the same number again.
  std::string out;
  for (const double value : {narrowing.min_positive, narrowing.max_finite}) {
    char buffer[32];
    const auto [end, fault] = std::to_chars(buffer, buffer + sizeof buffer, value);
    if (!out.empty()) out += ' ';
    out.append(buffer, end);
  }
  return out;
}

void add_entry(onnx::TensorProto& tensor, const char* key, std::string value) {
  auto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(std::move(value));
}

}  // namespace

std::string reference_location(std::size_t file) {
  return std::string(kPrefix) + std::to_string(file);
}

std::optional<Reference> reference_of(const onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return std::nullopt;
  Reference out;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") out.file = file_number(tensor, entry.value());
    if (entry.key() == "offset") out.offset = parse_number(entry.value());
    if (entry.key() == "length") out.length = parse_number(entry.value());
    if (entry.key() == kNarrowing) out.narrowing = parse_narrowing(tensor, entry.value());
  }
  return out;
}

void set_reference(onnx::TensorProto& tensor, const Reference& reference) {
  tensor.clear_raw_data();
  tensor.clear_external_data();
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  add_entry(tensor, "location", reference_location(reference.file));
  add_entry(tensor, "offset", std::to_string(reference.offset));
  add_entry(tensor, "length", std::to_string(reference.length));
  if (reference.narrowing)
    add_entry(tensor, kNarrowing.data(), narrowing_text(*reference.narrowing));
}

}  // namespace qtool
