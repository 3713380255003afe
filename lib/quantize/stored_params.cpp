#include "quantize/stored_params.h"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "model/model.h"

namespace qtool {
namespace {

/// Integers as elements of `type`. Little-endian two's complement: the low bits are the value in
/// the narrower type; a zero of a float type is all zero bits.
std::vector<std::byte> pack(ElementType type, std::span<const std::int32_t> values) {
  std::vector<std::byte> bytes(packed_bytes(type, values.size()));
  const std::size_t bits = element_bits(type);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (bits == 4) {
      const auto nibble = static_cast<std::byte>(values[i] & 0xF);
      bytes[i / 2] |= i % 2 == 0 ? nibble : nibble << 4;
    } else {
      std::memcpy(bytes.data() + i * bits / 8, &values[i], bits / 8);
    }
  }
  return bytes;
}

}  // namespace

onnx::TensorProto stored_scale(std::string name, const QuantParams& params,
                               std::span<const std::int64_t> shape) {
  return make_float_tensor(std::move(name), params.scale_type, shape, params.scales);
}

onnx::TensorProto stored_zero_point(std::string name, const QuantParams& params) {
  return make_tensor(std::move(name), params.type, stored_shape(params),
                     pack(params.type, params.zero_points));
}

}  // namespace qtool
