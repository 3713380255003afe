#include "verify/feed.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "verify/matching.h"

namespace qtool {
namespace {

/// What the two 16-bit types differ in.
struct HalfFormat {
  int mantissa_bits;
  int min_exponent;  ///< of normal values
  int max_exponent;
};
constexpr HalfFormat kFloat16{10, -14, 15};
constexpr HalfFormat kBFloat16{7, -126, 127};

std::uint16_t encode(double value, const HalfFormat& format) {
  const int sign = std::signbit(value) ? 0x8000 : 0;
  const int one = 1 << format.mantissa_bits;
  const int infinity = (format.max_exponent - format.min_exponent + 2) * one;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | infinity | (one >> 1));
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  if (value == 0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::max(std::ilogb(value), format.min_exponent);
  // In units of the last place; a carry into the next exponent, or to infinity, comes out right by
  // itself.
  const double units = std::nearbyint(std::ldexp(std::abs(value), format.mantissa_bits - exponent));
  if (exponent > format.max_exponent) return static_cast<std::uint16_t>(sign | infinity);
  const int code = (exponent - format.min_exponent) * one + static_cast<int>(units);
  return static_cast<std::uint16_t>(sign | std::min(code, infinity));
}

bool is_floating(ElementType type) {
  return type == ElementType::Float || type == ElementType::Double ||
         type == ElementType::Float16 || type == ElementType::BFloat16;
}

template <typename Stored, typename Encode>
void store(std::span<const double> values, std::vector<std::byte>& bytes, const Encode& encode) {
  bytes.resize(values.size() * sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Stored value = encode(values[i]);
    std::memcpy(bytes.data() + i * sizeof(Stored), &value, sizeof(Stored));
  }
}

}  // namespace

Tensor cast_floating(const Tensor& tensor, ElementType type) {
  Tensor out{type, tensor.shape, {}};
  const std::vector<double> values = to_float64(tensor);
  switch (type) {
    case ElementType::Float:
      store<float>(values, out.bytes, [](double value) { return static_cast<float>(value); });
      break;
    case ElementType::Double:
      store<double>(values, out.bytes, [](double value) { return value; });
      break;
    case ElementType::Float16:
      store<std::uint16_t>(values, out.bytes, [](double value) { return encode(value, kFloat16); });
      break;
    case ElementType::BFloat16:
      store<std::uint16_t>(values, out.bytes,
                           [](double value) { return encode(value, kBFloat16); });
      break;
    default:
      throw Error(ErrorKind::Internal,
                  "cast to " + element_type_name(type) + ", expected a floating-point type");
  }
  return out;
}

Feed::Feed(std::span<const TensorInfo> sample_inputs, std::span<const TensorInfo> model_inputs,
           const std::string& model_name) {
  const auto available = names_of(sample_inputs), wanted = names_of(model_inputs);
  const auto matches = match_names(wanted, available);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (!matches[i]) {
      throw Error(ErrorKind::Input,
                  model_name + ": takes input '" + printable(wanted[i]) +
                      "', expected inputs of the reference: " + printable(join(available)));
    }
    const TensorInfo& source = sample_inputs[*matches[i]];
    const TensorInfo& input = model_inputs[i];
    if (source.type != input.type && !(is_floating(source.type) && is_floating(input.type))) {
      throw Error(ErrorKind::Input, model_name + ": input '" + printable(input.name) +
                                        "' has type " + element_type_name(input.type) +
                                        ", expected " + element_type_name(source.type) +
                                        " as in the reference");
    }
    sources_.push_back({*matches[i], input});
  }
}

std::vector<NamedTensor> Feed::operator()(std::span<const NamedTensor> sample) const {
  std::vector<NamedTensor> out;
  for (const Source& source : sources_) {
    const Tensor& tensor = sample[source.index].tensor;
    out.push_back({source.input.name, tensor.type == source.input.type
                                          ? tensor
                                          : cast_floating(tensor, source.input.type)});
  }
  return out;
}

}  // namespace qtool
