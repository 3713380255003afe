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

template <typename Stored>
void move_to_int32_data(onnx::TensorProto& tensor) {
  const std::string& bytes = tensor.raw_data();
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Stored)) {
    Stored value;
    std::memcpy(&value, bytes.data() + at, sizeof(Stored));
    tensor.add_int32_data(value);
  }
}

}  // namespace

bool are_stored_alike(const QuantParams& a, const QuantParams& b) {
  return a.type == b.type && a.scales == b.scales && a.zero_points == b.zero_points &&
         a.axis == b.axis && a.block_size == b.block_size;
}

onnx::TensorProto stored_scale(std::string name, const QuantParams& params,
                               std::span<const std::int64_t> shape) {
  return make_float_tensor(std::move(name), params.scale_type, shape, params.scales);
}

void use_typed_field(onnx::TensorProto& tensor) {
  const std::string& bytes = tensor.raw_data();
  switch (element_type(tensor)) {
    case ElementType::Float:
      tensor.mutable_float_data()->Resize(static_cast<int>(bytes.size() / sizeof(float)), 0);
      std::memcpy(tensor.mutable_float_data()->mutable_data(), bytes.data(), bytes.size());
      break;
    case ElementType::Int8:
      move_to_int32_data<std::int8_t>(tensor);
      break;
    case ElementType::Int16:
      move_to_int32_data<std::int16_t>(tensor);
      break;
    case ElementType::Int32:
      move_to_int32_data<std::int32_t>(tensor);
      break;
    case ElementType::UInt16:
    case ElementType::Float16:
      move_to_int32_data<std::uint16_t>(tensor);
      break;
    case ElementType::UInt8:
    case ElementType::Int4:
    case ElementType::UInt4:
    case ElementType::Float8E4M3FN:
      move_to_int32_data<std::uint8_t>(tensor);
      break;
    default:
      return;
  }
  tensor.clear_raw_data();
}

onnx::TensorProto stored_zero_point(std::string name, const QuantParams& params) {
  return make_tensor(std::move(name), params.type, stored_shape(params),
                     pack(params.type, params.zero_points));
}

}  // namespace qtool
