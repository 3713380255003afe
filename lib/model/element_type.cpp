#include "model/element_type.h"

namespace qtool {
namespace {

struct TypeRow {
  const char* name;
  std::size_t bits;
};

TypeRow row(ElementType type) {
  switch (type) {
    case ElementType::Undefined:
      return {"undefined", 0};
    case ElementType::Float:
      return {"float32", 32};
    case ElementType::UInt8:
      return {"uint8", 8};
    case ElementType::Int8:
      return {"int8", 8};
    case ElementType::UInt16:
      return {"uint16", 16};
    case ElementType::Int16:
      return {"int16", 16};
    case ElementType::Int32:
      return {"int32", 32};
    case ElementType::Int64:
      return {"int64", 64};
    case ElementType::String:
      return {"string", 0};
    case ElementType::Bool:
      return {"bool", 8};
    case ElementType::Float16:
      return {"float16", 16};
    case ElementType::Double:
      return {"float64", 64};
    case ElementType::UInt32:
      return {"uint32", 32};
    case ElementType::UInt64:
      return {"uint64", 64};
    case ElementType::Complex64:
      return {"complex64", 64};
    case ElementType::Complex128:
      return {"complex128", 128};
    case ElementType::BFloat16:
      return {"bfloat16", 16};
    case ElementType::Float8E4M3FN:
      return {"float8e4m3fn", 8};
    case ElementType::Float8E4M3FNUZ:
      return {"float8e4m3fnuz", 8};
    case ElementType::Float8E5M2:
      return {"float8e5m2", 8};
    case ElementType::Float8E5M2FNUZ:
      return {"float8e5m2fnuz", 8};
    case ElementType::UInt4:
      return {"uint4", 4};
    case ElementType::Int4:
      return {"int4", 4};
    case ElementType::Float4E2M1:
      return {"float4e2m1", 4};
    case ElementType::Float8E8M0:
      return {"float8e8m0", 8};
    case ElementType::UInt2:
      return {"uint2", 2};
    case ElementType::Int2:
      return {"int2", 2};
    case ElementType::Float6E2M3:
      return {"float6e2m3", 6};
    case ElementType::Float6E3M2:
      return {"float6e3m2", 6};
  }
  return {"unknown", 0};
}

}  // namespace

bool is_known(ElementType type) {
  return type > ElementType::Undefined && type <= ElementType::Float6E3M2;
}

std::size_t element_bits(ElementType type) { return row(type).bits; }

std::size_t packed_bytes(ElementType type, std::size_t count) {
  return (count * element_bits(type) + 7) / 8;
}

std::string element_type_name(ElementType type) { return row(type).name; }

}  // namespace qtool
