#include "model/narrowing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/float16.h"

namespace qtool {
namespace {

constexpr std::size_t kPieceValues = std::size_t{1} << 18;

/// A copy, because values in a mapped file may start at any address.
void read_floats(std::span<const std::byte> bytes, std::vector<float>& out) {
  out.resize(bytes.size() / sizeof(float));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * sizeof(float));
}

void clamp(std::vector<float>& values, const Narrowing& narrowing) {
  const auto low = static_cast<float>(narrowing.min_positive);
  const auto high = static_cast<float>(narrowing.max_finite);
  for (float& value : values) {
    const float size = std::fabs(value);
    if (size > 0 && size < low) value = std::copysign(low, value);
    if (high > 0 && size > high && !std::isinf(size)) value = std::copysign(high, value);
  }
}

void convert(std::span<const float> values, ElementType type, std::span<std::uint16_t> out) {
  if (type == ElementType::BFloat16)
    kernels::narrow_to_bfloat16(values, out);
  else
    kernels::narrow_to_float16(values, out);
}

}  // namespace

std::size_t narrowed_bytes(std::size_t source_bytes) { return source_bytes / 2; }

std::vector<std::byte> narrow(std::span<const std::byte> source, const Narrowing& narrowing) {
  std::vector<std::byte> out;
  out.reserve(narrowed_bytes(source.size()));
  narrow_in_pieces(source, narrowing, [&](std::span<const std::byte> piece) {
    out.insert(out.end(), piece.begin(), piece.end());
  });
  return out;
}

void narrow_in_pieces(std::span<const std::byte> source, const Narrowing& narrowing,
                      const std::function<void(std::span<const std::byte>)>& sink) {
  std::vector<float> values;
  std::vector<std::uint16_t> codes;
  while (!source.empty()) {
    const auto piece = source.first(std::min(source.size(), kPieceValues * sizeof(float)));
    source = source.subspan(piece.size());
    read_floats(piece, values);
    clamp(values, narrowing);
    codes.resize(values.size());
    convert(values, narrowing.type, codes);
    sink(std::as_bytes(std::span(codes)));
  }
}

ClampedValues clamped_values(std::span<const std::byte> source, const Narrowing& narrowing) {
  ClampedValues out;
  const auto low = static_cast<float>(narrowing.min_positive);
  const auto high = static_cast<float>(narrowing.max_finite);
  float largest = 0;
  std::vector<float> values;
  while (!source.empty()) {
    const auto piece = source.first(std::min(source.size(), kPieceValues * sizeof(float)));
    source = source.subspan(piece.size());
    read_floats(piece, values);
    for (const float value : values) {
      const float size = std::fabs(value);
      if (!std::isfinite(size)) continue;
      largest = std::max(largest, size);
      out.above += high > 0 && size > high;
      out.below += size > 0 && size < low;
    }
  }
  out.largest = largest;
  return out;
}

}  // namespace qtool
