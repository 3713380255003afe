#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace qtool {

/// a * b, or nothing where the product does not fit. Sizes and offsets of untrusted files pass
/// through here.
template <std::integral T>
constexpr std::optional<T> checked_mul(T a, T b) {
  T out{};
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a + b, or nothing where the sum does not fit.
template <std::integral T>
constexpr std::optional<T> checked_add(T a, T b) {
  T out{};
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// `value` as a `To`, or nothing where it does not fit.
template <std::integral To, std::integral From>
constexpr std::optional<To> checked_narrow(From value) {
  if (!std::in_range<To>(value)) return std::nullopt;
  return static_cast<To>(value);
}

/// Product of `dims`, or nothing where one is negative or the product does not fit. An empty shape
/// has one element.
constexpr std::optional<std::int64_t> checked_element_count(std::span<const std::int64_t> dims) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t dim : dims) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      empty = true;
      continue;
    }
    const auto product = checked_mul(count, dim);
    if (!product) return std::nullopt;
    count = *product;
  }
  return empty ? 0 : count;
}

}  // namespace qtool
