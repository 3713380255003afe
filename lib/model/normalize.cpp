#include "model/normalize.h"

#include <cstring>

#include "base/checked.h"
#include "base/error.h"
#include "base/text.h"
#include "model/model.h"

namespace qtool {
namespace {

/// What a message says of where it is from.
struct Where {
  const std::string& file;
  const onnx::TensorProto& tensor;
  const TensorPlace& place;
};

[[noreturn]] void refuse(const Where& where, const std::string& what) {
  throw Error(ErrorKind::Input,
              where.file + ": " + describe(where.tensor, where.place) + ": " + what);
}

/// Number of value fields that hold something.
int used_fields(const onnx::TensorProto& tensor) {
  return (tensor.float_data_size() > 0) + (tensor.int32_data_size() > 0) +
         (tensor.string_data_size() > 0) + (tensor.int64_data_size() > 0) +
         (tensor.double_data_size() > 0) + (tensor.uint64_data_size() > 0) +
         !tensor.raw_data().empty();
}

void require_count(const Where& where, const char* field, std::size_t found, std::size_t expected) {
  if (found == expected) return;
  refuse(where, std::string(field) + " has " + std::to_string(found) + " values, expected " +
                    std::to_string(expected) + " by its shape and type");
}

/// Moves `values` into raw_data, each cut to a `Stored`.
template <typename Stored, typename Field>
void move_to_raw(onnx::TensorProto& tensor, Field& values) {
  std::string raw(static_cast<std::size_t>(values.size()) * sizeof(Stored), '\0');
  char* at = raw.data();
  for (const auto value : values) {
    const auto stored = static_cast<Stored>(value);
    std::memcpy(at, &stored, sizeof(Stored));
    at += sizeof(Stored);
  }
  values.Clear();
  tensor.set_raw_data(std::move(raw));
}

/// int32_data holds every type of at most 32 bits: one element each, but a whole byte of those
/// below 8 bits.
void move_int32_data(onnx::TensorProto& tensor, const Where& where, std::size_t count,
                     std::size_t bytes) {
  const std::size_t bits = element_bits(element_type(tensor));
  // Python's onnx writes one byte of packed elements to an entry, as ONNX Runtime reads it.
  const bool is_packed = bits < 8 && bits != 6;
  require_count(where, "int32_data", static_cast<std::size_t>(tensor.int32_data_size()),
                is_packed ? bytes : count);
  auto& values = *tensor.mutable_int32_data();
  if (bits == 32) return move_to_raw<std::int32_t>(tensor, values);
  if (bits == 16) return move_to_raw<std::uint16_t>(tensor, values);
  if (bits != 6) return move_to_raw<std::uint8_t>(tensor, values);
  std::string raw(bytes, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned code = static_cast<unsigned>(values[static_cast<int>(i)]) & 63u;
    const unsigned shifted = code << (i * 6 % 8);
    raw[i * 6 / 8] = static_cast<char>(raw[i * 6 / 8] | static_cast<char>(shifted & 255u));
    if (shifted > 255u) raw[i * 6 / 8 + 1] = static_cast<char>(shifted >> 8);
  }
  values.Clear();
  tensor.set_raw_data(std::move(raw));
}

void move_typed_data(onnx::TensorProto& tensor, const Where& where, std::size_t count,
                     std::size_t bytes) {
  const auto wrong_field = [&](const char* expected) {
    refuse(where,
           "values of " + element_type_name(element_type(tensor)) + " are not in " + expected);
  };
  const auto take = [&]<typename Stored>(auto& field, const char* name, Stored) {
    if (field.empty()) wrong_field(name);
    require_count(where, name, static_cast<std::size_t>(field.size()), bytes / sizeof(Stored));
    move_to_raw<Stored>(tensor, field);
  };
  switch (element_type(tensor)) {
    case ElementType::Float:
    case ElementType::Complex64:
      return take(*tensor.mutable_float_data(), "float_data", float{});
    case ElementType::Double:
    case ElementType::Complex128:
      return take(*tensor.mutable_double_data(), "double_data", double{});
    case ElementType::Int64:
      return take(*tensor.mutable_int64_data(), "int64_data", std::int64_t{});
    case ElementType::UInt64:
      return take(*tensor.mutable_uint64_data(), "uint64_data", std::uint64_t{});
    case ElementType::UInt32:
      return take(*tensor.mutable_uint64_data(), "uint64_data", std::uint32_t{});
    default:
      if (tensor.int32_data_size() == 0) wrong_field("int32_data");
      return move_int32_data(tensor, where, count, bytes);
  }
}

void check_strings(const onnx::TensorProto& tensor, const Where& where, std::size_t count) {
  if (used_fields(tensor) > (tensor.string_data_size() > 0))
    refuse(where, "values of string are not in string_data");
  require_count(where, "string_data", static_cast<std::size_t>(tensor.string_data_size()), count);
}

}  // namespace

TensorSize checked_size(const onnx::TensorProto& tensor, const TensorPlace& place,
                        const std::string& where) {
  const Where at{where, tensor, place};
  const ElementType type = element_type(tensor);
  if (!is_known(type)) {
    refuse(at, type == ElementType::Undefined
                   ? "has no data type"
                   : "unknown data type " + std::to_string(tensor.data_type()));
  }
  const auto shape = std::span(tensor.dims().data(), static_cast<std::size_t>(tensor.dims_size()));
  const auto count = checked_element_count(shape);
  // The widest element has 128 bits: where those fit, no later size of the tensor can wrap.
  const auto bits = count ? checked_mul<std::int64_t>(*count, 128) : std::nullopt;
  if (!bits) refuse(at, "impossible shape " + describe_shape(shape));
  const auto elements = static_cast<std::size_t>(*count);
  return {elements, packed_bytes(type, elements)};
}

TensorSize checked_external_size(const onnx::TensorProto& tensor, const TensorPlace& place,
                                 const std::string& where) {
  const Where at{where, tensor, place};
  if (element_type(tensor) == ElementType::String) refuse(at, "strings cannot be external data");
  if (used_fields(tensor) > 0) refuse(at, "has values in the model and in external data");
  if (tensor.has_segment()) refuse(at, "is stored in segments, which nothing supports");
  return checked_size(tensor, place, where);
}

void normalize_tensor(onnx::TensorProto& tensor, const TensorPlace& place,
                      const std::string& where) {
  const TensorSize size = checked_size(tensor, place, where);
  const Where at{where, tensor, place};
  if (tensor.has_segment()) refuse(at, "is stored in segments, which nothing supports");
  if (element_type(tensor) == ElementType::String) return check_strings(tensor, at, size.elements);
  if (used_fields(tensor) > 1) refuse(at, "has values in more than one field");
  if (tensor.raw_data().empty() && size.bytes > 0) {
    if (used_fields(tensor) == 0) {
      refuse(at, "has no values, expected " + std::to_string(size.bytes) +
                     " bytes by its shape and type");
    }
    move_typed_data(tensor, at, size.elements, size.bytes);
  }
  if (size.bytes == 0 && used_fields(tensor) > 0)
    refuse(at, "has values, expected none by its shape");
  if (tensor.raw_data().size() != size.bytes) {
    refuse(at, "raw_data has " + std::to_string(tensor.raw_data().size()) + " bytes, expected " +
                   std::to_string(size.bytes) + " by its shape and type");
  }
}

}  // namespace qtool
